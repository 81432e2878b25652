// Package topics finds topics and models by name, shows them, and makes new topics.
//
// In: a topic's name or folder, or a model's file; or examples of a topic. Out: a models.Topic, a
// models.Model. A user's topics are folders in the folder topics of the working folder; package models
// has the built-in ones. Start with Find and Model, or with Wanted.Make for a new topic.
//
// Files: find.go topics and models by name; new.go a new topic and its model; print.go both as text.
package topics
