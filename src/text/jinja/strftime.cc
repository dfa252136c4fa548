// datetime.strftime in the C locale, with glibc's flags ('-' no padding, '_' blanks, '0' zeros, '^' upper case).
// Written here so that a prompt does not depend on the locale or zone of the machine.
#include <ctime>

#include "text/jinja/filters.h"

namespace ridge::jinja {

namespace {

constexpr std::string_view kDays[] = {"Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"};
constexpr std::string_view kMonths[] = {"January", "February", "March",     "April",   "May",      "June",
                                        "July",    "August",   "September", "October", "November", "December"};

bool is_leap(int64_t year) {
  return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

int day_of_year(const CivilTime& t) {  // from 1
  static constexpr int kBefore[] = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334};
  return kBefore[t.month - 1] + t.day + (t.month > 2 && is_leap(t.year) ? 1 : 0);
}

int64_t days_before_year(int64_t year) {
  const int64_t y = year - 1;
  return y * 365 + y / 4 - y / 100 + y / 400;
}

int week_day(const CivilTime& t) {  // Sunday is 0; 0001-01-01 was a Monday
  return static_cast<int>((days_before_year(t.year) + day_of_year(t)) % 7);
}

int hour12(const CivilTime& t) {
  return t.hour % 12 == 0 ? 12 : t.hour % 12;
}

struct IsoWeek {
  int year, week;
};

IsoWeek iso_week(const CivilTime& t) {
  const int week_day_from_monday = (week_day(t) + 6) % 7;
  const int week = (day_of_year(t) - 1 - week_day_from_monday + 10) / 7;
  const auto weeks_in = [](int year) {
    const auto dec31 = [](int y) { return (days_before_year(y) + 365 + (is_leap(y) ? 1 : 0)) % 7; };
    return dec31(year) == 4 || dec31(year - 1) == 3 ? 53 : 52;
  };
  if (week < 1) return {t.year - 1, weeks_in(t.year - 1)};
  if (week > weeks_in(t.year)) return {t.year + 1, 1};
  return {t.year, week};
}

class TimeFormatter {
 public:
  TimeFormatter(const CivilTime& time, std::string& out) : t_(time), out_(out) {}

  void run(std::string_view format) {
    for (size_t i = 0; i < format.size(); ++i) {
      if (format[i] != '%' || i + 1 >= format.size()) {
        out_ += format[i];
        continue;
      }
      const size_t begin = i++;
      flag_ = 0;
      while (i < format.size() && std::string_view("-_0^#").find(format[i]) != std::string_view::npos)
        flag_ = format[i++];
      if (i >= format.size() || !directive(format[i])) out_ += format.substr(begin, i + 1 - begin);
    }
  }

 private:
  void number(int64_t n, int width, char pad = '0') {
    if (flag_ == '-') return void(out_ += fmt::format("{}", n));
    if (flag_ == '_') pad = ' ';
    if (flag_ == '0') pad = '0';
    const std::string digits = fmt::format("{}", n);
    if (static_cast<int>(digits.size()) < width) out_.append(static_cast<size_t>(width) - digits.size(), pad);
    out_ += digits;
  }

  void name(std::string_view text) {
    for (const char c : text)
      out_ += (flag_ == '^' || flag_ == '#') && c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c;
  }

  void nested(std::string_view format) { TimeFormatter(t_, out_).run(format); }

  // A directive that prints one number.
  struct Number {
    char directive;
    int width;
    char pad;
    int64_t (*of)(const CivilTime&);
  };
  // One that stands for a format.
  struct Composite {
    char directive;
    std::string_view format;
  };

  bool directive(char c) {
    static constexpr Composite kComposites[] = {{'c', "%a %b %e %H:%M:%S %Y"},
                                                {'D', "%m/%d/%y"},
                                                {'x', "%m/%d/%y"},
                                                {'F', "%Y-%m-%d"},
                                                {'R', "%H:%M"},
                                                {'T', "%H:%M:%S"},
                                                {'X', "%H:%M:%S"},
                                                {'r', "%I:%M:%S %p"}};
    for (const Composite& composite : kComposites) {
      if (composite.directive != c) continue;
      nested(composite.format);
      return true;
    }
    static constexpr Number kNumbers[] = {
        {'C', 2, '0', [](const CivilTime& t) { return int64_t{t.year / 100}; }},
        {'d', 2, '0', [](const CivilTime& t) { return int64_t{t.day}; }},
        {'e', 2, ' ', [](const CivilTime& t) { return int64_t{t.day}; }},
        {'f', 6, '0', [](const CivilTime&) { return int64_t{0}; }},
        {'g', 2, '0', [](const CivilTime& t) { return int64_t{iso_week(t).year % 100}; }},
        {'G', 4, '0', [](const CivilTime& t) { return int64_t{iso_week(t).year}; }},
        {'H', 2, '0', [](const CivilTime& t) { return int64_t{t.hour}; }},
        {'I', 2, '0', [](const CivilTime& t) { return int64_t{hour12(t)}; }},
        {'j', 3, '0', [](const CivilTime& t) { return int64_t{day_of_year(t)}; }},
        {'k', 2, ' ', [](const CivilTime& t) { return int64_t{t.hour}; }},
        {'l', 2, ' ', [](const CivilTime& t) { return int64_t{hour12(t)}; }},
        {'m', 2, '0', [](const CivilTime& t) { return int64_t{t.month}; }},
        {'M', 2, '0', [](const CivilTime& t) { return int64_t{t.minute}; }},
        {'S', 2, '0', [](const CivilTime& t) { return int64_t{t.second}; }},
        {'u', 1, '0', [](const CivilTime& t) { return int64_t{week_day(t) == 0 ? 7 : week_day(t)}; }},
        {'U', 2, '0', [](const CivilTime& t) { return int64_t{(day_of_year(t) + 6 - week_day(t)) / 7}; }},
        {'V', 2, '0', [](const CivilTime& t) { return int64_t{iso_week(t).week}; }},
        {'w', 1, '0', [](const CivilTime& t) { return int64_t{week_day(t)}; }},
        {'W', 2, '0', [](const CivilTime& t) { return int64_t{(day_of_year(t) + 6 - (week_day(t) + 6) % 7) / 7}; }},
        {'y', 2, '0', [](const CivilTime& t) { return int64_t{t.year % 100}; }},
        {'Y', 1, '0', [](const CivilTime& t) { return int64_t{t.year}; }},
    };
    for (const Number& n : kNumbers) {
      if (n.directive != c) continue;
      number(n.of(t_), n.width, n.pad);
      return true;
    }
    return word(c);
  }

  bool word(char c) {
    const bool morning = t_.hour < 12;
    switch (c) {
      case 'a':
        name(kDays[week_day(t_)].substr(0, 3));
        return true;
      case 'A':
        name(kDays[week_day(t_)]);
        return true;
      case 'b':
      case 'h':
        name(kMonths[t_.month - 1].substr(0, 3));
        return true;
      case 'B':
        name(kMonths[t_.month - 1]);
        return true;
      case 'p':
        out_ += flag_ == '#' ? (morning ? "am" : "pm") : (morning ? "AM" : "PM");
        return true;
      case 'P':
        out_ += morning ? "am" : "pm";
        return true;
      case 'n':
        out_ += '\n';
        return true;
      case 't':
        out_ += '\t';
        return true;
      case 'z':
      case 'Z':
        return true;  // a naive datetime has no zone: nothing
      case '%':
        out_ += '%';
        return true;
      default:
        return false;
    }
  }

  const CivilTime& t_;
  std::string& out_;
  char flag_ = 0;
};

}  // namespace

std::string format_time(std::string_view format, const CivilTime& time) {
  std::string out;
  CivilTime t = time;
  t.month = std::clamp(t.month, 1, 12);
  t.day = std::clamp(t.day, 1, 31);
  t.year = std::clamp(t.year, 1, 9999);
  TimeFormatter(t, out).run(format);
  return out;
}

CivilTime local_time() {
  const std::time_t now = std::time(nullptr);
  std::tm tm{};
  localtime_r(&now, &tm);
  return {tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec};
}

}  // namespace ridge::jinja
