// Follows the call of a hook that is in progress: which step it read, what its timer was asked, what it saves.
//
// Thread safety: none.
#ifndef VIGIL_PROPERTIES_RULES_HOOK_CALL_RULE_H_
#define VIGIL_PROPERTIES_RULES_HOOK_CALL_RULE_H_

#include <cstddef>
#include <vector>

#include "vigil/properties/rules/rule.h"

namespace vigil::properties {

class HookCallRule : public Rule {
 public:
  using Rule::Rule;
  void OnEvent(const Moment& now) final;

 protected:
  struct Question {
    std::size_t at;
    double step;
    bool yes;
  };
  struct Call {
    std::size_t at = kNever;
    bool has_value = false;
    double value = 0;  // of after_run: what the hook sees
    std::size_t read = kNever;
    double step = 0;
    std::vector<Question> asked;  // of the timer
    std::size_t set = kNever;     // the timer
    double set_to = 0;
    std::size_t saves = kNever;  // the last save that began
    double saves_step = 0;
    bool keeps_nothing = false;

    std::size_t asked_last() const { return asked.empty() ? kNever : asked.back().at; }
    bool first_answer() const { return !asked.empty() && asked.front().yes; }
  };
  virtual void OnHookEvent(const Moment& now) = 0;
  Call call_;
};

}  // namespace vigil::properties

#endif  // VIGIL_PROPERTIES_RULES_HOOK_CALL_RULE_H_
