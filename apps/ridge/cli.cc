#include "cli.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <map>
#include <optional>

namespace ridge::app {
namespace {

std::vector<std::string> split_names(std::string_view names) {
  std::vector<std::string> out;
  for (size_t at = 0; at < names.size();) {
    const size_t end = std::min(names.find(',', at), names.size());
    std::string_view one = names.substr(at, end - at);
    while (!one.empty() && one.front() == ' ') one.remove_prefix(1);
    if (!one.empty()) out.emplace_back(one);
    at = end + 1;
  }
  return out;
}

// CLI11 knows single-dash names of one letter only; a longer one is handed to it with two dashes.
std::string cli11_name(const std::string& name) {
  return name.size() > 2 && name[0] == '-' && name[1] != '-' ? "-" + name : name;
}

}  // namespace

std::string nearest(std::string_view word, const std::vector<std::string>& known) {
  const auto strip = [](std::string_view s) {
    while (!s.empty() && s.front() == '-') s.remove_prefix(1);
    return s;
  };
  const std::string_view a = strip(word);
  std::string best;
  size_t best_distance = std::max<size_t>(1, a.size() / 3) + 1;
  for (const std::string& candidate : known) {
    const std::string_view b = strip(candidate);
    std::vector<size_t> row(b.size() + 1);
    for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
    for (size_t i = 1; i <= a.size(); ++i) {
      size_t diagonal = row[0];
      row[0] = i;
      for (size_t j = 1; j <= b.size(); ++j) {
        const size_t up = row[j];
        row[j] = std::min({row[j] + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0u : 1u)});
        diagonal = up;
      }
    }
    if (row[b.size()] < best_distance) best_distance = row[b.size()], best = candidate;
  }
  return best;
}

struct Cli::Impl {
  CLI::App app;
  std::string command;
  std::vector<std::string> names;              // as the user writes them
  std::map<std::string, std::string> long_of;  // "-ngl" -> "--ngl"
  std::vector<std::pair<std::vector<std::string>, CLI::Option*>> options;
  CLI::Option* positional = nullptr;
  std::optional<Error> error;  // of the first setter that failed

  Impl(std::string cmd, std::string about) : app(std::move(about), "ridge " + cmd), command(std::move(cmd)) {
    app.allow_extras();
    app.set_help_flag("-h,--help", "this text");
  }

  CLI::Option* add(const std::string& list, Setter set, const std::string& help, const std::string& default_text,
                   int min_values) {
    std::string joined;
    const std::vector<std::string> all = split_names(list);
    for (const std::string& name : all) {
      names.push_back(name);
      long_of[name] = cli11_name(name);
      joined += (joined.empty() ? "" : ",") + long_of[name];
    }
    const auto callback = [this, set = std::move(set), shown = all.back()](const CLI::results_t& results) {
      for (const std::string& value : results) {
        if (auto done = set(value); !done && !error)
          error = Error{done.error().code, shown + ": " + done.error().message};
      }
      return true;
    };
    CLI::Option* option =
        app.add_option(joined, callback, help + (default_text.empty() ? "" : " (default: " + default_text + ")"));
    option->type_name("")
        ->expected(min_values, 1)
        ->allow_extra_args(false)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    options.emplace_back(all, option);
    return option;
  }
};

Cli::Cli(std::string command, std::string about)
    : impl_(std::make_unique<Impl>(std::move(command), std::move(about))) {}
Cli::~Cli() = default;

void Cli::setter(std::string names, Setter set, std::string help, std::string default_text) {
  impl_->add(names, std::move(set), help, default_text, 1);
}

void Cli::flag(std::string names, bool& target, std::string help) {
  std::string joined;
  const std::vector<std::string> all = split_names(names);
  for (const std::string& name : all) {
    impl_->names.push_back(name);
    impl_->long_of[name] = cli11_name(name);
    joined += (joined.empty() ? "" : ",") + cli11_name(name);
  }
  impl_->options.emplace_back(all, impl_->app.add_flag_callback(
                                       joined, [&target] { target = true; }, help));
}

void Cli::value(std::string names, std::string& target, std::string help) {
  setter(
      std::move(names), [&target](std::string_view v) -> Result<void> { return target = v, Result<void>(); },
      std::move(help), target);
}

void Cli::value(std::string names, int& target, std::string help, int min, int max) {
  setter(
      std::move(names),
      [&target, min, max](std::string_view v) -> Result<void> {
        int number = 0;
        const auto [end, ec] = std::from_chars(v.data(), v.data() + v.size(), number);
        if (ec != std::errc() || end != v.data() + v.size() || number < min || number > max) {
          return fail(ErrorCode::invalid_argument, "found '{}', expected a whole number from {} to {}", v, min, max);
        }
        target = number;
        return {};
      },
      std::move(help), std::to_string(target));
}

void Cli::values(std::string names, std::vector<std::string>& target, std::string help) {
  setter(
      std::move(names),
      [&target](std::string_view v) -> Result<void> { return target.emplace_back(v), Result<void>(); }, std::move(help),
      "");
}

void Cli::optional_value(std::string names, std::string& target, std::string bare, std::string help) {
  impl_->add(
      names,
      [&target, bare](std::string_view v) -> Result<void> {
        target = v.empty() ? bare : std::string(v);
        return {};
      },
      help, target, 0);
}

void Cli::optional_setter(std::string names, Setter set, std::string help) {
  impl_->add(names, std::move(set), help, "", 0);
}

void Cli::positional(std::string name, std::string& target, std::string help) {
  impl_->positional = impl_->app.add_option(name, target, help)->type_name("");
}

void Cli::positionals(std::string name, std::vector<std::string>& target, std::string help) {
  impl_->positional = impl_->app.add_option(name, target, help)->type_name("");
}

bool Cli::has_positional() const {
  return impl_->positional != nullptr && impl_->positional->count() > 0;
}

bool Cli::given(std::string_view name) const {
  for (const auto& [names, option] : impl_->options) {
    if (std::find(names.begin(), names.end(), name) != names.end()) return option->count() > 0;
  }
  return false;
}

Result<Cli::Parsed> Cli::parse(const std::vector<std::string>& args) {
  // CLI11 takes its arguments last first.
  std::vector<std::string> reversed;
  for (auto it = args.rbegin(); it != args.rend(); ++it) {
    const size_t equals = it->find('=');
    const auto found = impl_->long_of.find(it->substr(0, equals));
    reversed.push_back(
        found == impl_->long_of.end() ? *it : found->second + (equals == std::string::npos ? "" : it->substr(equals)));
  }
  try {
    impl_->app.parse(reversed);
  } catch (const CLI::CallForHelp&) {
    std::fputs(impl_->app.help().c_str(), stdout);
    return Parsed::help_was_printed;
  } catch (const CLI::ParseError& e) {
    return fail(ErrorCode::invalid_argument, "{} (see 'ridge {} --help')", e.what(), impl_->command);
  }
  if (impl_->error) return tl::unexpected<Error>(*impl_->error);
  for (const std::string& extra : impl_->app.remaining()) {
    if (extra.size() > 1 && extra[0] == '-') {
      const std::string near = nearest(extra, impl_->names);
      return fail(ErrorCode::invalid_argument, "unknown option '{}'{}; 'ridge {} --help' lists them", extra,
                  near.empty() ? "" : fmt::format(", did you mean '{}'?", near), impl_->command);
    }
    return fail(ErrorCode::invalid_argument, "one word too many: '{}' (quote a text with spaces)", extra);
  }
  return Parsed::run;
}

}  // namespace ridge::app
