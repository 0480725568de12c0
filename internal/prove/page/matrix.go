package page

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/prove"
)

// A matrix has a row for each request and a column for each kind of fault.
type matrix struct {
	Columns []column
	Groups  []group // the steps
}

// A column is a kind of fault.
type column struct {
	Kind prove.Kind
	Text string // what happens
}

// A group is the rows of a step.
type group struct {
	Title string
	Calm  bool // each plan of it held
	Rows  []row
}

// A row is a request, or a step itself.
type row struct {
	Verb, Resource, Name string
	Nth                  int    // 0: the first request of its sort in the step
	Request              string // the same with the group
	Text                 string // in place of a request
	Calm                 bool   // each plan of it held
	Cells                []cell // one for each column
}

// A cell is the plans with one kind of fault at one request. Most have one plan, or none.
type cell struct {
	Stories []story // the one that matters most first
	First   bool    // of the matrix
}

// Worst is the story that matters most.
func (c cell) Worst() story { return c.Stories[0] }

// Plans are the IDs of all plans.
func (c cell) Plans() string {
	var ids []string
	for _, s := range c.Stories {
		ids = append(ids, s.ID)
	}
	return strings.Join(ids, " ")
}

// Label says what came of the plans.
func (c cell) Label() string {
	worst := c.Worst()
	text := string(worst.Verdict)
	if worst.Verdict == prove.Found {
		text += " " + worst.Glyph
	}
	if n := len(c.Stories); n > 1 {
		text += fmt.Sprintf(", %d plans", n)
	}
	return text + ": " + worst.Sentence
}

// everyStep is the group of plans that are about no single step.
const everyStep = -1

// place is where in the matrix a plan is: the step, and the request in it.
func place(p prove.Plan) (step int, at prove.Point) {
	if p.Kind == prove.Restarted || p.Kind == prove.Without {
		return everyStep, prove.Point{Operator: p.Point.Operator}
	}
	return p.Point.Step, p.Point
}

// matrix puts the stories in rows and columns.
func (s *stories) matrix() (m matrix) {
	m.Columns = s.columns()
	order := map[prove.Point]int{}
	for i, at := range s.report.Requests {
		order[at] = i + 1
	}
	type key struct {
		step int
		at   prove.Point
	}
	var keys []key
	cells := map[key][]story{}
	for _, story := range s.all {
		step, at := place(story.Plan)
		k := key{step, at}
		if cells[k] == nil {
			keys = append(keys, k)
		}
		cells[k] = append(cells[k], story)
	}
	last := func(k key) int { // what is about no request comes after all requests of the step
		if k.at.Verb == "" {
			return len(order) + 1
		}
		return order[k.at]
	}
	slices.SortStableFunc(keys, func(a, b key) int { return cmp.Or(cmp.Compare(a.step, b.step), cmp.Compare(last(a), last(b))) })
	for i, k := range keys {
		if i == 0 || keys[i-1].step != k.step {
			m.Groups = append(m.Groups, group{Title: s.title(k.step), Calm: true})
		}
		g := &m.Groups[len(m.Groups)-1]
		r := newRow(k.step, k.at, cells[k], m.Columns)
		g.Rows, g.Calm = append(g.Rows, r), g.Calm && r.Calm
	}
	m.begin()
	return m
}

// columns are the kinds that the report has.
func (s *stories) columns() []column {
	var all []column
	for _, sort := range prove.Sorts() {
		all = append(all, column(sort))
	}
	has := map[prove.Kind]bool{}
	for _, story := range s.all {
		kind := story.Plan.Kind
		has[kind] = true
		if !slices.ContainsFunc(all, func(c column) bool { return c.Kind == kind }) {
			all = append(all, column{Kind: kind})
		}
	}
	return slices.DeleteFunc(all, func(c column) bool { return !has[c.Kind] })
}

// title names a step.
func (s *stories) title(step int) string {
	if step == everyStep {
		return "every step"
	}
	return fmt.Sprintf("step %d: %s", step+1, s.report.Scenario.Steps[step])
}

// newRow is the row of a request.
func newRow(step int, at prove.Point, all []story, columns []column) row {
	r := row{Verb: at.Verb, Resource: at.Resource, Name: at.Name, Request: at.String(), Calm: true}
	if at.Subresource != "" {
		r.Resource += "/" + at.Subresource
	}
	if at.Namespace != "" {
		r.Name = at.Namespace + "/" + at.Name
	}
	if at.Nth > 1 {
		r.Nth = at.Nth
	}
	switch {
	case step == everyStep:
		r.Text = "at rest"
	case at.Verb == "":
		r.Text = "before the next step"
	}
	if at.Operator != "" && r.Text != "" {
		r.Text = at.Operator + ": " + r.Text
	} else if at.Operator != "" {
		r.Verb = at.Operator + ": " + r.Verb
	}
	for _, c := range columns {
		var of cell
		for _, story := range all {
			if story.Plan.Kind == c.Kind {
				of.Stories = append(of.Stories, story)
				r.Calm = r.Calm && story.Verdict == prove.Held
			}
		}
		slices.SortStableFunc(of.Stories, func(a, b story) int { return cmp.Compare(rank(a.Verdict), rank(b.Verdict)) })
		r.Cells = append(r.Cells, of)
	}
	return r
}

// rank orders verdicts, the one that matters most first.
func rank(v prove.Verdict) int {
	return slices.IndexFunc(verdicts, func(l legend) bool { return l.Verdict == v })
}

// begin marks the cell that the keyboard comes to first.
func (m matrix) begin() {
	for _, g := range m.Groups {
		for _, r := range g.Rows {
			for i := range r.Cells {
				if len(r.Cells[i].Stories) > 0 {
					r.Cells[i].First = true
					return
				}
			}
		}
	}
}
