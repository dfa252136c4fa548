// The time budget of a whole process, put together from the budgets of its parts.
#pragma once

#include "account/stages.h"
#include "command.h"
#include "ridge/account.h"

namespace ridge::app {

// From the start of the process to now: the kernel's record of the start, then the stages that main, loading and the
// request closed.
TimeBudget whole_budget(const ProcessStart& start, int64_t end_ns, const TimeBook& main_book, const LoadAccount& load,
                        const RequestAccount& request);

}  // namespace ridge::app
