// Test support: how often this program has called operator new.
#pragma once

namespace ridge {

long count_allocations();

}  // namespace ridge
