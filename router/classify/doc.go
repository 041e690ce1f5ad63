// Package classify tells what a question in plain words is about, and so which store can answer it: knowledge,
// episodes, operations or reconnaissance.
//
// A question is cut into words and their shapes (features*), which a small linear model weighs (model.bin, trained by
// TestCommittedModel); names that the stores know (Mention) and what people said of earlier questions (feedback) move the answer, and a
// Classification gives its confidence and its reasons. It asks no store: who calls brings the names.
package classify
