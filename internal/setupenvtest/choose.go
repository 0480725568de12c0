package setupenvtest

import (
	"fmt"

	"github.com/slipway-dev/slipway/internal/report"
)

// choice is the folder to use.
type choice struct {
	item    Item
	standIn bool // for a version that cannot be had
}

// choose decides which folder serves a request: one of those installed that match, the newest first, or that of our own
// version, which may be there already. It knows the rules and touches nothing.
func choose(own Version, r Request, installed []Item, ownInstalled bool) (choice, error) {
	if i, ok := suits(own, r, installed); ok {
		return choice{item: i}, nil
	}
	if r.Platform != Host() {
		return choice{}, &report.Error{What: "there are no embedded programs for " + r.Platform.String(),
			Hint: fmt.Sprintf("this slipway is for %s; sideload the programs of other platforms", Host()), Code: failed}
	}
	if r.onlyInstalled() && !ownInstalled {
		return choice{}, &report.Error{What: fmt.Sprintf("Kubernetes %s is not installed", r.Selector),
			Hint: "without -i slipway sets up the embedded one, without a network", Next: "slipway setup-envtest list -i", Code: failed}
	}
	switch {
	case r.Selector.Matches(own):
		return choice{item: Item{own, Host()}}, nil
	case !r.Selector.standIn(own):
		return choice{}, &report.Error{What: fmt.Sprintf("Kubernetes %s is not available", r.Selector),
			Hint: fmt.Sprintf("the embedded version is %s, which replaces %s; sideload other versions", own, window(own)),
			Next: "slipway setup-envtest list", Code: failed}
	case r.Exact:
		return choice{}, &report.Error{What: fmt.Sprintf("Kubernetes %s is not available", r.Selector), Where: "--exact",
			Hint: "the embedded version is " + own.String(), Next: "slipway setup-envtest use " + own.String(), Code: failed}
	}
	return choice{item: Item{own, Host()}, standIn: true}, nil
}

// suits finds an installed item that the request is content with: the newest, unless the embedded one is newer and the
// newest that can be had is asked for.
func suits(own Version, r Request, installed []Item) (Item, bool) {
	if r.Force || len(installed) == 0 {
		return Item{}, false
	}
	newest := installed[0]
	better := r.Selector.Latest && !r.onlyInstalled() && r.Platform == Host() &&
		r.Selector.Matches(own) && newest.Compare(own) < 0
	return newest, !better
}
