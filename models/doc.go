// Package models stores trained classifiers and topics.
//
// In and out: a Model or a Topic, and bytes or files. A Model has all that turns a page's text into a
// label: how terms are extracted and weighed, the vocabulary, a classifier's tables. It also has
// calibration, thresholds, keywords (K) of each class, and a card that says where it comes from.
//
// It trains nothing (package train) and reads no page (package classify); it scores vectors. Start
// with ReadFile or BuiltinTopic.
//
// Files: model.go the model, its check, tables of weights and the scores of any table; tree.go trees and
// forests; rules.go rules; network.go networks and votes; file.go the file format (docs/model-format.md);
// topic.go topics.
package models
