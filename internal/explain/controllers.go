package explain

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/slipway-dev/slipway/internal/lazy"
	"github.com/slipway-dev/slipway/internal/protocol"
	"github.com/slipway-dev/slipway/internal/ui/devlog"
)

// ControllerWork is what one controller of an operator has done, by its log.
type ControllerWork struct {
	Operator   string         `json:"operator"`
	User       string         `json:"user,omitempty"`
	Controller string         `json:"controller,omitempty"` // empty: lines of no controller
	Reconciles int            `json:"reconciles"`
	Since      time.Time      `json:"since,omitzero"` // beginning of the first of them
	PerMinute  float64        `json:"perMinute"`
	MedianMs   float64        `json:"medianMs,omitempty"` // how long reconciles take; 0: the record does not say so
	P95Ms      float64        `json:"p95Ms,omitempty"`
	LongestMs  float64        `json:"longestMs,omitempty"`
	Results    map[Result]int `json:"results"`
	Errors     int            `json:"errors"`           // lines of that level
	Kinds      []Tally        `json:"kinds"`            // of errors: names and numbers in them do not count
	Newest     string         `json:"newest,omitempty"` // error

	took  []time.Duration
	kinds map[string]int
}

// controllers sums up the reconciles and errors by controller, those without work left out.
func (r *reconciles) controllers() []ControllerWork {
	type key struct{ operator, controller string }
	by := map[key]*ControllerWork{}
	of := func(operator, controller, user string) *ControllerWork {
		k := key{operator, controller}
		if by[k] == nil {
			by[k] = &ControllerWork{Operator: operator, Controller: controller, Results: map[Result]int{}, kinds: map[string]int{}}
		}
		by[k].User = cmp.Or(by[k].User, user)
		return by[k]
	}
	for _, one := range r.all {
		if !one.Inferred {
			of(one.Operator, one.Controller, one.User).count(one)
		}
	}
	for _, d := range r.deeds {
		if d.Kind == protocol.RecordLine && d.Level == "error" {
			of(d.Operator, d.Controller, "").failed(d)
		}
	}
	all := []ControllerWork{}
	for _, c := range by {
		c.sum(time.Since(c.Since))
		all = append(all, *c)
	}
	slices.SortFunc(all, func(a, b ControllerWork) int {
		return cmp.Or(strings.Compare(a.Operator, b.Operator), strings.Compare(a.Controller, b.Controller))
	})
	return all
}

func (c *ControllerWork) count(one *reconcile) {
	if c.Reconciles++; c.Since.IsZero() { // they come by time
		c.Since = one.Began
	}
	if one.Result == "" {
		return
	}
	c.Results[one.Result]++
	if one.bounded {
		c.took = append(c.took, one.Ended.Sub(one.Began))
	}
}

// ofOneObject is what differs between errors of one kind.
var ofOneObject = lazy.Regexp(`"[^"]*"|\d+`)

func (c *ControllerWork) failed(d Deed) {
	said := devlog.Parse(d.Message)
	text := plainly(cmp.Or(said.Error, said.Message))
	c.Errors++
	c.Newest = text // deeds come by time
	c.kinds[ofOneObject().ReplaceAllString(text, "…")]++
}

// sum completes the figures of a time, of at least a minute.
func (c *ControllerWork) sum(of time.Duration) {
	c.PerMinute = float64(c.Reconciles) / max(of, time.Minute).Minutes()
	c.Kinds = most(c.kinds)
	if slices.Sort(c.took); len(c.took) > 0 {
		ms, n := milliseconds, len(c.took)
		c.MedianMs, c.P95Ms, c.LongestMs = ms(c.took[(n-1)/2]), ms(c.took[(95*n+99)/100-1]), ms(c.took[n-1])
	}
}

// milliseconds is a duration that was measured, and so is not 0.
func milliseconds(d time.Duration) float64 { return max(float64(d.Microseconds())/1000, 0.001) }
