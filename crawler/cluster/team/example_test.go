package team_test

import (
	"fmt"

	"fossick/crawler/cluster/team"
)

// A team needs an agent.
func Example() {
	_, err := team.New(team.Options{})
	fmt.Println(err)
	// Output: team: no agent
}
