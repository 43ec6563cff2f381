#include "vigil/core/cluster/worker/tensorflow_partition.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "vigil/core/graph/graph.pb.h"
#include "vigil/core/graph/node_def.pb.h"

namespace vigil {
namespace {

// "^name", "name:1", "name".
void Rename(const std::map<std::string, std::string, std::less<>>& names, std::string& input) {
  const std::size_t begin = input.starts_with('^') ? 1 : 0;
  const std::size_t end = std::min(input.find(':'), input.size());
  const auto renamed = names.find(std::string_view(input).substr(begin, end - begin));
  if (renamed != names.end()) input.replace(begin, end - begin, renamed->second);
}

}  // namespace

void NameAsOurs(proto::GraphDef& partition) {
  std::map<std::string, std::string, std::less<>> names;
  std::set<std::string_view> taken;
  for (const proto::NodeDef& node : partition.node()) taken.insert(node.name());
  for (proto::NodeDef& node : *partition.mutable_node()) {
    if (node.op() == "_HostSend") node.set_op("_Send");
    if (node.op() == "_HostRecv") node.set_op("_Recv");
    if (!node.name().starts_with('_')) continue;
    std::string name = "tensorflow" + node.name();
    for (int i = 1; taken.contains(name); ++i) name = fmt::format("tensorflow{}_{}", node.name(), i);
    const auto [renamed, added] = names.emplace(node.name(), std::move(name));
    taken.insert(renamed->second);
  }
  if (names.empty()) return;
  taken.clear();  // whose names are about to change
  for (proto::NodeDef& node : *partition.mutable_node()) {
    if (const auto renamed = names.find(node.name()); renamed != names.end()) node.set_name(renamed->second);
    for (std::string& input : *node.mutable_input()) Rename(names, input);
  }
}

}  // namespace vigil
