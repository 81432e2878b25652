// Package plan says what a run of the lab is made of, and makes it.
//
// In: a Plan: a corpus, a topic, policies by name, the truth or a judge of its pages, what
// the page classifier is trained on. Out: the Setup: corpus, draw, page classifiers,
// keywords, policies; and what its crawls came to, a lab.Result.
//
// Package lab knows no model and no policy by name; this one does. It opens nothing
// itself: an Opener does.
//
// Files: plan.go the plan and the order of its steps; setup.go corpus, truth
// and draw; judged.go by what pages are judged. trained.go page classifiers,
// and how good they are; keywords.go K of each start set; policies.go policies
// by name. report.go how it was made.
package plan
