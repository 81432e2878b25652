// Package models keeps trained classifiers and topics.
//
// In and out: a Model or a Topic, and bytes or files. A Model has all that a page's
// text needs to become a label: how terms are extracted and weighed, the vocabulary,
// the tables. It also has calibration, thresholds, K for each class, and a card that
// says where it comes from.
//
// It trains nothing (package train) and reads no page (package classify); it
// only knows how to score a vector. Start with ReadFile, or BuiltinTopic.
//
// Files: model.go the model and its check; linear.go, tree.go, rules.go and
// network.go the tables of classifiers, vote.go several models as one. walk.go
// which leaf a page reaches, match.go which rules hold on it; file.go the file
// format (docs/model-format.md) and wire.go its keys. topic.go topics.
package models
