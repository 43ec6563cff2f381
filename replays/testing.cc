#include "vigil/replays/testing.h"

#include <gtest/gtest.h>
#include <lzma.h>

#include <utility>

#include "vigil/core/env/real/posix_files.h"

namespace vigil::replays {

FilesWith::FilesWith(std::initializer_list<std::pair<std::string, std::string>> content) {
  for (const auto& [path, data] : content) {
    EXPECT_TRUE(files_.MakeDirectory(Dirname(path)).ok());
    auto file = files_.Open(path, OpenMode::kTruncate);
    EXPECT_TRUE(file.ok() && (*file)->Append(data).ok()) << path;
  }
}

std::string RecordedFolder() { return VIGIL_SOURCE_DIR "/replays/tensorflow"; }

const std::vector<RawRecord>& RecordedRecords() {
  static const std::vector<RawRecord> records = [] {
    PosixFiles files;
    std::vector<RawRecord> all;
    ReadRecords(files, nullptr, {RecordedFolder()}, [&](RawRecord record) {
      all.push_back(std::move(record));
      return true;
    });
    return all;
  }();
  return records;
}

std::string PackXz(std::string_view data) { return PackXzWithDictionary(data, 1 << 20); }

std::string PackXzWithDictionary(std::string_view data, std::uint32_t dictionary_bytes) {
  lzma_options_lzma options;
  EXPECT_FALSE(lzma_lzma_preset(&options, 0));
  options.dict_size = dictionary_bytes;
  lzma_filter filters[] = {{LZMA_FILTER_LZMA2, &options}, {LZMA_VLI_UNKNOWN, nullptr}};
  std::string out(lzma_stream_buffer_bound(data.size()), '\0');
  std::size_t size = 0;
  const lzma_ret ret =
      lzma_stream_buffer_encode(filters, LZMA_CHECK_CRC64, nullptr, reinterpret_cast<const std::uint8_t*>(data.data()),
                                data.size(), reinterpret_cast<std::uint8_t*>(out.data()), &size, out.size());
  EXPECT_EQ(ret, LZMA_OK);
  out.resize(size);
  return out;
}

}  // namespace vigil::replays
