package prove

import "time"

// A Finding is a fault, or several, that the operator does not stand.
type Finding struct {
	ID        string  // of the symptom: the same in each run
	Plans     []Plan  // with the same symptom, the first one first
	Symptom   Symptom // of the first one
	Confirmed bool    // it came again
	Tries     int     // how often it was looked for again
	Accepted  string  // why the team lives with it; empty: it counts
	Writes    []Write // of the operator around the fault

	tried  int  // plans with it that were tried again
	trying bool // it is being tried again
}

// A Write is a request in the story of a finding.
type Write struct {
	Text  string
	Fault bool // it met the fault
}

// A Report is what a proof has found.
type Report struct {
	Command   string // the command line of the proof, for messages
	Scenario  Scenario
	Plans     int // that were carried out
	Of        int // that there are
	Unstruck  int // in which the fault was not committed
	Findings  []Finding
	Results   []Result // of all plans
	Requests  []Point  // of the operator without a fault, in order
	Knowledge Knowledge
	Warnings  []string // what the operator does without need, without a fault
	Leftover  []string // objects that are left after the last step, without a fault
	Refused   []string // requests that the API server refuses without a fault, too
	Varying   []string // what differs without a fault, and is not compared
	Timeline  []string // of a replay: what the operator asked for and what was stored, in order
	Memory    int64    // of the clusters' program in the end, in bytes
	Writes    int      // effective ones, without a fault
	Learning  time.Duration
	Exploring time.Duration
	Durations []time.Duration // of runs, in order
}

// Median is that of the runs.
func (r *Report) Median() time.Duration {
	if len(r.Durations) == 0 {
		return 0
	}
	return r.Durations[len(r.Durations)/2]
}
