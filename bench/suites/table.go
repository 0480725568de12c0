package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"
)

// comparison is what became of one package's tests on both control planes.
type comparison struct{ stock, ours outcomes }

// difference is a test that ended differently.
type difference struct{ name, stock, ours string }

func (c comparison) differences() (list []difference) {
	for _, name := range c.names() {
		stock, ours := cmp.Or(c.stock.states[name], "absent"), cmp.Or(c.ours.states[name], "absent")
		if stock != ours {
			list = append(list, difference{name, stock, ours})
		}
	}
	return list
}

// names are those of all tests, sorted.
func (c comparison) names() []string {
	all := maps.Clone(c.stock.states)
	maps.Copy(all, c.ours.states)
	return slices.Sorted(maps.Keys(all))
}

// failOnBoth are the tests that prove nothing here.
func (c comparison) failOnBoth() []string {
	ours := c.ours.failures()
	both := slices.DeleteFunc(c.stock.failures(), func(name string) bool { return !slices.Contains(ours, name) })
	slices.Sort(both)
	return both
}

// worse reports whether a test does not pass on ours that does on stock programs.
func (d difference) worse() bool { return d.stock == passed }

// table is the report, a line of Markdown for each package as it is done.
type table struct {
	out         io.Writer
	tests       int
	stock, ours time.Duration
	notes       []string
	worse       bool
}

func (t *table) head() {
	fmt.Fprintln(t.out, "| package | tests | same | passed again: ours, stock | ours | stock | ratio |")
	fmt.Fprintln(t.out, "|---|---|---|---|---|---|---|")
}

func (t *table) row(pkg string, c comparison) {
	tests, different := len(c.names()), c.differences()
	fmt.Fprintf(t.out, "| %s | %d | %d | %d, %d | %.1f s | %.1f s | %.2f |\n", pkg, tests, tests-len(different),
		len(c.ours.attempt), len(c.stock.attempt), c.ours.wall.Seconds(), c.stock.wall.Seconds(), ratio(c.ours.wall, c.stock.wall))
	t.tests, t.stock, t.ours = t.tests+tests, t.stock+c.stock.wall, t.ours+c.ours.wall
	for _, d := range different {
		t.note("%s: %s: %s on ours, %s on stock programs", pkg, d.name, d.ours, d.stock)
		if d.worse() {
			t.worse = true
			t.note("output on ours:\n%s", c.ours.output)
		}
	}
	for _, name := range c.failOnBoth() {
		t.note("%s: %s: fails on both", pkg, name)
	}
	for side, o := range map[string]outcomes{"ours": c.ours, "stock programs": c.stock} {
		for name, n := range o.attempt {
			t.note("%s: %s: passed on %s in run %d", pkg, name, side, n)
		}
	}
}

func (t *table) note(format string, args ...any) {
	t.notes = append(t.notes, fmt.Sprintf(format, args...))
}

// end tells the sum and the exceptions.
func (t *table) end() error {
	fmt.Fprintf(t.out, "| all | %d | | | %.1f s | %.1f s | %.2f |\n", t.tests, t.ours.Seconds(), t.stock.Seconds(), ratio(t.ours, t.stock))
	slices.Sort(t.notes)
	for _, note := range t.notes {
		fmt.Fprintf(t.out, "\n- %s\n", note)
	}
	if t.worse {
		return errDiffer
	}
	return nil
}

func ratio(ours, stock time.Duration) float64 { return float64(ours) / float64(stock) }
