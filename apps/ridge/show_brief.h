// The accounts of a run on a card of 80 columns: what a newcomer sees first.
#pragma once

#include <string>

#include "show_accounts.h"

namespace ridge::app {

// Where the time went (bars), the two rates, where the memory went; every figure is one of account_tables().
std::string account_card(const RunAccount& a, const Style& style);

}  // namespace ridge::app
