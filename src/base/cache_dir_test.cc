// Which variable decides, and what is said when none does.
#include "base/cache_dir.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>
#include <string>

namespace ridge {
namespace {

// Sets a variable (nullptr: removes it) and puts the old value back.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) {
    if (const char* old = std::getenv(name)) old_ = old;
    if (value == nullptr) {
      unsetenv(name);
    } else {
      setenv(name, value, 1);
    }
  }
  ~Variable() {
    if (old_) {
      setenv(name_, old_->c_str(), 1);
    } else {
      unsetenv(name_);
    }
  }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
  std::optional<std::string> old_;
};

TEST(CacheDir, prefers_an_absolute_xdg_variable_to_the_home_folder) {
  const Variable home("HOME", "/people/someone");
  {
    const Variable xdg("XDG_CACHE_HOME", "/var/cache/someone");
    EXPECT_EQ(cache_dir().value(), "/var/cache/someone/ridge");
  }
  for (const char* ignored : {"relative/path", "", static_cast<const char*>(nullptr)}) {
    const Variable xdg("XDG_CACHE_HOME", ignored);
    EXPECT_EQ(cache_dir().value(), "/people/someone/.cache/ridge");
  }
}

TEST(CacheDir, says_what_to_set_when_neither_variable_is_there) {
  const Variable home("HOME", nullptr), xdg("XDG_CACHE_HOME", nullptr);
  const auto none = cache_dir();
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ErrorCode::not_found);
  EXPECT_NE(none.error().message.find("XDG_CACHE_HOME"), std::string::npos);
}

TEST(DataDir, is_apart_from_the_cache) {
  const Variable home("HOME", "/people/someone"), cache("XDG_CACHE_HOME", "/var/cache/someone");
  {
    const Variable xdg("XDG_DATA_HOME", "/var/data/someone");
    EXPECT_EQ(data_dir().value(), "/var/data/someone/ridge");
  }
  const Variable xdg("XDG_DATA_HOME", "relative");
  EXPECT_EQ(data_dir().value(), "/people/someone/.local/share/ridge");
  const Variable homeless("HOME", nullptr);
  ASSERT_FALSE(data_dir());
  EXPECT_NE(data_dir().error().message.find("XDG_DATA_HOME"), std::string::npos);
}

}  // namespace
}  // namespace ridge
