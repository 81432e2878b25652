// Package models keeps trained classifiers and topics.
//
// In and out: a Model or a Topic, and bytes or files. A Model has all that turns a page's text into
// a label: how terms are extracted and weighed, the vocabulary, the tables. It also has calibration,
// thresholds, K for each class, and a card that says where it comes from.
//
// It trains nothing (package train) and reads no page (package classify); it scores a vector. Start
// with ReadFile or BuiltinTopic.
//
// Files: model.go the model and its check, with tables of weights; tree.go trees and forests;
// rules.go rules and which of them hold on a page; network.go networks and votes; file.go the file
// format (docs/model-format.md); topic.go topics.
package models
