// Says what calls to a master are for: it remembers the graph of each session, and of a step looks at the ops that its
// fetches and targets need, up to what is fed.
//
// Bytes that are no request of their method are of kind kOther: the server may know better.
// Thread safety: safe.
#ifndef VIGIL_PROXY_CLASSIFIER_H_
#define VIGIL_PROXY_CLASSIFIER_H_

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/cord.h"
#include "vigil/core/env/tasks.h"
#include "vigil/proxy/call_kind.h"

namespace vigil::proxy {

// What a trace tells of a call.
struct CallInfo {
  CallKind kind = CallKind::kOther;
  std::string session;               // handle; "" = none
  std::vector<std::string> fetches;  // of a step
  std::vector<std::string> targets;
  bool takes_errors_in_body = false;
};

class Classifier {
 public:
  explicit Classifier(Tasks& tasks);
  ~Classifier();

  CallInfo Look(std::string_view method, const absl::Cord& request) const;
  // The server has answered so.
  void Answered(std::string_view method, const absl::Cord& request, const absl::Cord& reply);

 private:
  struct Graph;
  std::shared_ptr<const Graph> GraphOf(const std::string& session) const;

  const std::unique_ptr<Mutex> mutex_;
  std::map<std::string, std::shared_ptr<const Graph>> graphs_;  // by session; guarded by *mutex_
};

}  // namespace vigil::proxy

#endif  // VIGIL_PROXY_CLASSIFIER_H_
