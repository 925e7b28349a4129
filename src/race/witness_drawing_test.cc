#include "race/witness_drawing.h"

#include <gtest/gtest.h>

#include <string>

#include "race/witness_summary.h"
#include "trace/text/std_testing.h"

namespace sooth {
namespace {

// The drawing as text: "position thread deed object site", one row per line.
std::string text_of(const WitnessDrawing& drawing) {
  std::string text;
  for (const WitnessDrawing::Row& row : drawing.rows) {
    const WitnessDrawing::Deed& deed = drawing.deeds[row.deed];
    text += std::to_string(row.position) + " " + drawing.threads[row.thread].name + " " +
            std::string(op_name(deed.op)) + (deed.shared ? " (shared)" : "") + " " + drawing.objects[row.object] + " " +
            drawing.sites[row.site].label + "\n";
  }
  return text;
}

WitnessSummary summary_of(const WholeTrace& trace, const Witness& witness) {
  const TraceView view{trace.events, trace.values, trace.branches, &trace.tables};
  const Status status = check_witness(view, witness);
  EXPECT_TRUE(status.ok()) << status.message();
  return summarise(witness, view);
}

TEST(WitnessDrawingTest, ShowsSynchronisationRunsAndTheVariable) {
  const WholeTrace trace = must_read(
      "M|fork(A)|1\nM|fork(B)|2\nA|acq(l)|3\nA|w(y)|4\nA|w(z)|5\nA|w(y)|6\nA|w(x)|7\nA|rel(l)|8\nB|acq(l)|9\nB|rel(l)|"
      "10\nB|w(x)|11\n");
  const Witness witness{
      FindingKind::kRace,
      {EventId{0}, EventId{1}, EventId{8}, EventId{9}, EventId{2}, EventId{3}, EventId{4}, EventId{5}},
      {EventId{6}, EventId{10}}};
  const WitnessSummary summary = summary_of(trace, witness);
  ASSERT_TRUE(summary.drawing.has_value());
  EXPECT_EQ(summary.drawing->length, 8u);
  EXPECT_EQ(text_of(*summary.drawing),
            "0 M fork A 1\n"
            "1 M fork B 2\n"
            "2 B acquire l 9\n"
            "3 B release l 10\n"
            "4 A acquire l 3\n"
            "7 A write y 6\n");  // neither a synchronisation nor x, but where the run ends; 5 and 6 are left out
}

// Too many events to show: those of the end, and from before what explains them.
TEST(WitnessDrawingTest, KeepsWhatExplainsTheEndWhenThereIsTooMuch) {
  std::string text = "M|fork(A)|1\nM|fork(B)|2\nA|acq(held)|3\n";
  for (int i = 0; i < 1000; ++i) {
    text += "A|acq(l)|4\nA|rel(l)|5\n";
  }
  text += "A|w(x)|6\nB|w(x)|7\n";
  const WholeTrace trace = must_read(text);
  Witness witness{FindingKind::kRace, {}, {EventId{2003}, EventId{2004}}};
  witness.order.resize(2003);
  for (std::size_t i = 0; i < witness.order.size(); ++i) {
    witness.order[i] = EventId{i};
  }
  const WitnessSummary summary = summary_of(trace, witness);
  ASSERT_TRUE(summary.drawing.has_value());
  const std::vector<WitnessDrawing::Row>& rows = summary.drawing->rows;
  EXPECT_EQ(rows.size(), kMaxDrawnEvents);
  EXPECT_EQ(summary.drawing->length, 2003u);
  EXPECT_EQ(rows[0].position, 0u);  // fork(A)
  EXPECT_EQ(rows[1].position, 1u);  // fork(B)
  EXPECT_EQ(rows[2].position, 2u);  // acq(held), still open
  EXPECT_EQ(rows[3].position, 2003u - (kMaxDrawnEvents - 3));
  EXPECT_EQ(rows.back().position, 2002u);
  EXPECT_EQ(summary.drawing->threads.size(), 3u);  // B has no event yet, but stands there in the end
  EXPECT_EQ(summary.drawing->sites.size(), 5u);
}

TEST(WitnessDrawingTest, NeedsNames) {
  const WholeTrace trace = must_read("A|w(x)|1\nB|w(x)|2\n");
  const TraceView view{trace.events, {}, {}, nullptr};
  EXPECT_FALSE(summarise({FindingKind::kRace, {}, {EventId{0}, EventId{1}}}, view).drawing.has_value());
}

}  // namespace
}  // namespace sooth
