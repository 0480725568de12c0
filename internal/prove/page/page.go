// Package page shows what a proof has found as one HTML file: a matrix of requests and faults as a heat map, and the
// story of each plan.
//
//	err := page.Write("prove.html", report, page.About{Subject: "app", Command: "slipway prove"})
//
// The file needs nothing else and asks no network. Its policy lets no style or script run but its own. What comes from
// an operator is text in it, and characters that change how other text looks are shown as Go writes them. The same
// report makes the same file.
package page

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"slices"
	"time"

	"github.com/slipway-dev/slipway/internal/prove"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/safefs"
	"github.com/slipway-dev/slipway/internal/ui/ansi"
)

var (
	//go:embed page.html
	layout string
	//go:embed page.css
	style string
	//go:embed page.js
	script string
)

// About is what the page says of the proof beside its report.
type About struct {
	Subject string // what was proved: a project or a scenario
	Command string // the command line of the proof; a plan is replayed by the same with --replay
}

// A view is what the layout shows.
type view struct {
	About
	*prove.Report
	Policy   string
	Style    template.CSS
	Script   template.JS
	Findings []story // of each the first plan
	Matrix   matrix
	Legend   []legend
	Open     int      // findings that count
	Timeline []string // of a replay
}

// Write writes the page to a file.
func Write(file string, r *prove.Report, about About) error {
	var b bytes.Buffer
	err := Render(&b, r, about)
	if err == nil {
		err = safefs.Write(file, b.Bytes(), 0o644)
	}
	if err != nil {
		return &report.Error{What: "the report cannot be written", Where: file, Err: err}
	}
	return nil
}

// Render writes the page.
func Render(w io.Writer, r *prove.Report, about About) error {
	parsed, err := template.New("page").Funcs(template.FuncMap{"round": round, "count": count}).Parse(layout)
	if err != nil {
		return err
	}
	v := view{
		About: about, Report: r, Open: len(r.New()),
		Style: template.CSS(style), Script: template.JS(script),
		Policy: fmt.Sprintf("default-src 'none'; style-src '%s'; script-src '%s'; base-uri 'none'; form-action 'none'", hash(style), hash(script)),
	}
	s := newStories(r, about.Command)
	v.Findings, v.Matrix = s.findings(), s.matrix()
	v.Legend = s.legend()
	for _, line := range r.Timeline {
		v.Timeline = append(v.Timeline, cut(line))
	}
	var b bytes.Buffer
	if err := parsed.Execute(&b, v); err != nil {
		return err
	}
	_, err = io.WriteString(w, ansi.Plain(b.String()))
	return err
}

// hash names a style or script in a Content Security Policy.
func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// count is a number of things.
func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// round is a duration as people read it.
func round(d time.Duration) time.Duration {
	if d < time.Second {
		return d.Round(time.Millisecond)
	}
	return d.Round(100 * time.Millisecond)
}

// A legend is a verdict, and how many plans have it.
type legend struct {
	Verdict prove.Verdict
	Glyph   string
	Text    string
	Plans   int
}

// verdicts are all, the one that matters most first.
var verdicts = []legend{
	{prove.Found, "1", "finding, by its number", 0},
	{prove.SeenOnce, "?", "seen once, and not again", 0},
	{prove.Accepted, "~", "accepted finding", 0},
	{prove.NotRun, "…", "not run", 0},
	{prove.Unstruck, "–", "the request did not come", 0},
	{prove.Held, "·", "held", 0},
}

// glyph stands for a verdict beside its colour. The number is that of the finding.
func glyph(v prove.Verdict, number int) string {
	if v == prove.Found {
		return fmt.Sprint(number)
	}
	i := slices.IndexFunc(verdicts, func(l legend) bool { return l.Verdict == v })
	return verdicts[i].Glyph
}

// legend explains the verdicts that the report has.
func (s *stories) legend() []legend {
	all := slices.Clone(verdicts)
	for i := range all {
		for _, story := range s.all {
			if story.Verdict == all[i].Verdict {
				all[i].Plans++
			}
		}
	}
	return slices.DeleteFunc(all, func(l legend) bool { return l.Plans == 0 })
}
