package main

import (
	"fossick/crawler/crawlplan"
	"fossick/datasets/web"
	"fossick/graph/orders"
	"fossick/graph/rank"
	"fossick/internal/help"
	"fossick/train"
	"fossick/train/topics"
)

// offers are the kinds of values that a shell can be told, by the word in complete:"…".
var offers = help.Offers{
	"files":       {More: help.Files},
	"dirs":        {More: help.Folders},
	"topics":      {Words: topics.Names, More: help.Folders},
	"models":      {Words: topics.Names, More: help.Files},
	"sets":        {Words: func() []string { return []string{"demo"} }, More: help.Files},
	"policies":    {Words: crawlplan.Names},
	"orders":      {Words: orders.Orderings},
	"sequences":   {Words: orders.Sequences},
	"classifiers": {Words: train.Classifiers},
	"rankings":    {Words: rank.Methods},
	"faults":      {Words: faultNames},
}

func faultNames() []string {
	names := []string{"list"}
	for _, f := range web.Faults() {
		names = append(names, f.Name)
	}
	return names
}
