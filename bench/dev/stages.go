package main

import (
	"time"

	"github.com/slipway-dev/slipway/bench/sidebyside"
)

// The stages of a save, as slipway dev reports them. Install and build are side by side.
const (
	stageCounts    quantity = "of it: until the save counts"
	stageGenerate  quantity = "of it: generate"
	stageInstall   quantity = "of it: install"
	stageBuild     quantity = "of it: build"
	stageRestart   quantity = "of it: end of the old manager and start of the new one"
	stageReconcile quantity = "of it: from the new manager's start until it reconciles"
)

// stages are the stages of parts, in the order of a report.
var stages = []struct {
	part string
	quantity
}{
	{"", stageCounts}, {"generate", stageGenerate}, {"install", stageInstall}, {"build", stageBuild}, {"manager", stageRestart}, {"", stageReconcile},
}

// addStages adds the stages of what was begun and ended then. A stage that was left out adds nothing.
func (s series) addStages(seen []event, begin, end time.Time) {
	working := map[string]time.Time{}
	for _, e := range seen {
		if e.Event != "part" {
			continue
		}
		switch e.State {
		case "working":
			if len(working) == 0 {
				s.add(stageCounts, e.at.Sub(begin))
			}
			working[e.Name] = e.at
		case "ready":
			for _, stage := range stages {
				if from, began := working[e.Name]; began && stage.part == e.Name {
					s.add(stage.quantity, e.at.Sub(from))
				}
			}
			if e.Name == "manager" {
				s.add(stageReconcile, end.Sub(e.at))
			}
		}
	}
}

// stages are the lines of the stages that there were.
func (s series) stages() (figures []sidebyside.Figure) {
	for _, stage := range stages {
		if len(s[stage.quantity]) > 0 {
			figures = append(figures, s.figure(stage.quantity, sidebyside.Bar{}))
		}
	}
	return figures
}
