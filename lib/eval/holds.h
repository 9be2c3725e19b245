// One function a predicate; predicates() names them. Each says why it holds, or nothing.
#pragma once

#include <optional>
#include <string>

#include "eval/predicates.h"

namespace stoka::eval::holds {

using Reason = std::optional<std::string>;

// manners.cpp
Reason greeting(const Answer& answer, const Phrases& phrases);
Reason flattery(const Answer& answer, const Phrases& phrases);
Reason sycophancy(const Answer& answer, const Phrases& phrases);
Reason apology(const Answer& answer, const Phrases& phrases);
Reason alternatives(const Answer& answer, const Phrases& phrases);

// form.cpp
Reason exclamation(const Answer& answer, const Phrases& phrases);
Reason emoji(const Answer& answer, const Phrases& phrases);
Reason list(const Answer& answer, const Phrases& phrases);

// energy.cpp
Reason energy(const Answer& answer, const Phrases& phrases);

// measure.cpp
Reason summary(const Answer& answer, const Phrases& phrases);
Reason repeat(const Answer& answer, const Phrases& phrases);
Reason too_long(const Answer& answer, const Phrases& phrases);

// grounds.cpp
Reason ungrounded(const Answer& answer, const Phrases& phrases);

// claims.cpp
Reason echo(const Answer& answer, const Phrases& phrases);
Reason invented(const Answer& answer, const Phrases& phrases);

}  // namespace stoka::eval::holds
