// Package topics finds topics and models by the names that people give them, shows them,
// and makes topics of one's own.
//
// In: a name: a topic's, its folder, a model's file; or examples of a topic. Out: a
// models.Topic, a models.Model. One's own topics are folders in the folder topics of the
// working folder; the built-in ones are in package models.
//
// Files: find.go topics and models by name; info.go what there is of a topic;
// new.go a topic of one's own. learn.go its model of examples; print.go all of
// it as text.
package topics
