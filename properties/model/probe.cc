#include <algorithm>
#include <map>
#include <string_view>

#include "vigil/properties/model/hook.h"

namespace vigil::properties::model {
namespace {

using replays::Action;
using replays::PlanEntry;

class ProbeModel : public Hook {
 public:
  ProbeModel(World& world, const replays::HookSpec& spec) : world_(world), spec_(spec) {}

  Code Begin() override {
    world_.Say("hook {} begin", spec_.name);
    return Act("begin", nullptr, nullptr, nullptr);
  }
  Code AfterCreateSession(const RawSessionPtr& session, const std::shared_ptr<Coordinator>& coord) override {
    coord_ = coord;
    world_.Say("hook {} after_create_session session={}", spec_.name, World::Name(session.get()));
    return Act("after_create_session", session.get(), nullptr, nullptr);
  }
  Code BeforeRun(RunContext& context, HookRequest& request) override {
    world_.SetCurrent(context.session);
    world_.Say("hook {} before_run session={}", spec_.name, World::Name(context.session.get()));
    return Act("before_run", context.session.get(), &context, &request);
  }
  Code AfterRun(RunContext& context, const HookResult& result) override {
    const std::string shown = result.number.has_value() ? " results=" + NumberText(*result.number) : "";
    world_.Say("hook {} after_run session={}{}", spec_.name, World::Name(context.session.get()), shown);
    return Act("after_run", context.session.get(), &context, nullptr, &result);
  }
  Code End(const RawSessionPtr& session) override {
    world_.Say("hook {} end session={}", spec_.name, World::Name(session.get()));
    return Act("end", session.get(), nullptr, nullptr);
  }

 private:
  Code Act(std::string_view method, RawSession* session, RunContext* context, HookRequest* request,
           const HookResult* result = nullptr) {
    const std::int64_t call = ++calls_[method];
    for (const PlanEntry& entry : spec_.plan) {
      if (entry.method != method) continue;
      const bool every = entry.calls.empty();
      if (!every && std::find(entry.calls.begin(), entry.calls.end(), call) == entry.calls.end()) continue;
      if (const Code code = Do(entry, session, context, request, result); code != Code::kOk) return code;
    }
    return Code::kOk;
  }

  Code Do(const PlanEntry& entry, RawSession* session, RunContext* context, HookRequest* request,
          const HookResult* result = nullptr) {
    switch (entry.action) {
      case Action::kRaise:
        world_.Say("hook {} raises {}", spec_.name, CodeName(entry.code));
        return entry.code;
      case Action::kRequestStop:
        world_.Say("hook {} requests_stop", spec_.name);
        if (context == nullptr) return Code::kUsage;
        context->stop = true;
        return Code::kOk;
      case Action::kReport:
        world_.Say("hook {} reports {}", spec_.name, CodeName(entry.code));
        return coord_ == nullptr ? Code::kUsage : coord_->RequestStop(entry.code);
      case Action::kCoordinatorStop:
        world_.Say("hook {} stops_coordinator", spec_.name);
        return coord_ == nullptr ? Code::kUsage : coord_->RequestStop(Code::kOk);
      case Action::kReadStep: {
        std::int64_t step = 0;
        return session == nullptr ? Code::kUsage : world_.ReadStep(*session, step);
      }
      case Action::kFetch:
        if (request != nullptr) Fetch(entry, *request);
        return Code::kOk;
      case Action::kFeed:
        if (request != nullptr) request->feed = entry.value;
        return Code::kOk;
      case Action::kOptions:
        if (request != nullptr) request->options = entry.options;
        return Code::kOk;
      case Action::kShow:
        if (result != nullptr) Show(*result);
        return Code::kOk;
      case Action::kStartThread:
        world_.Say("hook {} starts_thread {}", spec_.name, NumberText(static_cast<double>(entry.value)));
        if (coord_ == nullptr) return Code::kUsage;
        coord_->StartThread(static_cast<double>(entry.value));
        return Code::kOk;
    }
    return Code::kOk;
  }

  // The last one counts. A model without a global step has no step to fetch.
  void Fetch(const PlanEntry& entry, HookRequest& request) {
    request.tree = entry.nested.value_or(replays::FetchSpec{.name = entry.what});
    if (!entry.nested.has_value() && entry.what == "step" && !world_.scenario().model.global_step) request.tree.reset();
  }

  void Show(const HookResult& result) {
    world_.Say("hook {} sees results {}", spec_.name, result.text);
    world_.Say("hook {} sees options {} traced={}", spec_.name, RunOptionsText(result.options),
               IsTraced(result.options, world_.scenario().session.shared_state) ? "yes" : "no");
  }

  World& world_;
  const replays::HookSpec& spec_;
  std::shared_ptr<Coordinator> coord_;
  std::map<std::string_view, std::int64_t> calls_;
};

}  // namespace

std::unique_ptr<Hook> NewProbe(World& world, const replays::HookSpec& spec) {
  return std::make_unique<ProbeModel>(world, spec);
}

Code MakeHooks(World& world, const std::vector<replays::HookSpec>& specs, std::vector<std::unique_ptr<Hook>>& hooks) {
  for (const replays::HookSpec& spec : specs) {
    std::unique_ptr<Hook> hook;
    if (const Code code = MakeHook(world, spec, hook); code != Code::kOk) return code;
    if (hook == nullptr) return Code::kInternal;  // refused
    hooks.push_back(std::move(hook));
  }
  return Code::kOk;
}

}  // namespace vigil::properties::model
