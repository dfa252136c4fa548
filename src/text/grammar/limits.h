// The limits of grammars: what a source may hold, what compiling may cost, what matching may keep. Each is tested.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ridge::grammar {

inline constexpr size_t kMaxSourceBytes = size_t{1} << 20;  // GBNF; all choices together
inline constexpr size_t kMaxSchemaBytes = size_t{256} << 10;
inline constexpr size_t kMaxRegexBytes = size_t{16} << 10;
inline constexpr size_t kMaxRules = 20'000;
inline constexpr size_t kMaxNesting = 1'000;     // groups in a source; also of rules opened without a byte between
inline constexpr int kMaxRegexNesting = 200;     // groups; its parser recurses
inline constexpr uint32_t kMaxRepeat = 100'000;  // the number in {m,n}; what it expands to counts as parts
inline constexpr size_t kMaxParts = 400'000;     // states before they are made deterministic
inline constexpr size_t kMaxStates = 200'000;    // states after
inline constexpr size_t kMaxCompileSteps = 12'000'000;  // edges looked at while compiling: about half a second

inline constexpr uint32_t kMaxDepth = 2'048;       // open rules on one stack while matching
inline constexpr size_t kMaxAlternatives = 4'096;  // stacks that are followed at once
inline constexpr size_t kMaxMachineBytes = size_t{24}
                                           << 20;  // of one matcher; beyond it starts afresh from where it is
inline constexpr size_t kMaxMaskCacheBytes = size_t{96} << 20;  // masks by state of one grammar

}  // namespace ridge::grammar
