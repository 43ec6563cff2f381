#include "vigil/core/summary/testing.h"

#include <gtest/gtest.h>

#include "vigil/core/io/record_reader.h"

namespace vigil {

std::vector<proto::Event> ReadEvents(Files& files, const std::string& path) {
  const absl::StatusOr<std::string> bytes = ReadAll(files, path);
  EXPECT_TRUE(bytes.ok()) << bytes.status();
  std::vector<proto::Event> events;
  if (!bytes.ok()) return events;
  RecordReader reader(*bytes);
  while (true) {
    const auto record = reader.Next();
    EXPECT_TRUE(record.ok()) << record.status();
    if (!record.ok() || !record->has_value()) break;
    EXPECT_TRUE(events.emplace_back().ParseFromArray((*record)->data(), static_cast<int>((*record)->size())));
  }
  EXPECT_FALSE(events.empty());
  if (!events.empty()) {
    EXPECT_EQ(events[0].file_version(), "brain.Event:2");
  }
  return events;
}

std::vector<std::string> EventTexts(Files& files, const std::string& path) {
  std::vector<std::string> texts;
  for (proto::Event& event : ReadEvents(files, path)) {
    if (!event.file_version().empty()) continue;
    event.clear_wall_time();
    texts.push_back(event.ShortDebugString());
  }
  return texts;
}

std::vector<std::string> EventsFiles(Files& files, const std::string& directory) {
  std::vector<std::string> paths;
  const absl::StatusOr<std::vector<std::string>> names = files.List(directory);
  EXPECT_TRUE(names.ok()) << names.status();
  if (!names.ok()) return paths;
  for (const std::string& name : *names) {
    if (name.starts_with("events.out.tfevents.")) paths.push_back(JoinPath(directory, name));
  }
  return paths;
}

}  // namespace vigil
