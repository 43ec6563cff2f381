#include "vigil/fakes/exchanges.h"

#include <fstream>
#include <sstream>

#include "absl/strings/escaping.h"

namespace vigil {

std::vector<Exchange> ReadExchanges(const std::string& file) {
  std::vector<Exchange> out;
  std::ifstream in(file);
  const auto bytes = [](const std::string& word) { return word == "-" ? "" : absl::HexStringToBytes(word); };
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream words(line);
    Exchange& exchange = out.emplace_back();
    std::string request;
    std::string reply;
    words >> exchange.to >> exchange.method >> request >> reply;
    exchange.request = bytes(request);
    if (reply != "error") exchange.reply = bytes(reply);
  }
  return out;
}

}  // namespace vigil
