package page_test

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/slipway-dev/slipway/internal/prove"
	"github.com/slipway-dev/slipway/internal/prove/page"
	"github.com/slipway-dev/slipway/internal/safefs"
)

var update = flag.Bool("update", false, "write golden files")

// at is a request in a step.
func at(step int, verb, resource, name string) prove.Point {
	return prove.Point{Step: step, Verb: verb, Resource: resource, Namespace: "default", Name: name, Nth: 1}
}

// report has a plan of each verdict.
func report() *prove.Report {
	healed := false
	config, service, remove := at(0, "create", "configmaps", "blog-conf"), at(0, "create", "services", "blog"), at(1, "delete", "services", "blog")
	lost, killed := prove.Plan{Kind: prove.Lost, Point: config}, prove.Plan{Kind: prove.KilledAfter, Point: config}
	stale, failed := prove.Plan{Kind: prove.Stale, Point: service}, prove.Plan{Kind: prove.Failure, Point: remove}
	missing := prove.Symptom{Oracle: prove.Diverged, Healed: &healed, Differences: []prove.Difference{
		{Object: "Service default/blog", Want: "(exists)"}, {Object: "Site default/blog", Field: "status.ready", Want: "true", Got: "false"}, {Object: "ConfigMap default/blog-2", Got: "(exists)"}}}
	extra := prove.Symptom{Oracle: prove.Extra, Step: 1, Details: []string{"create services default/blog: 2 times, without the fault 1"}}
	writes := []prove.Write{{Text: "create configmaps default/blog-conf #1 → 201 ← lost", Fault: true}, {Text: "update sites.example.com/status default/blog #1 → 200"}}
	moments := []prove.Moment{{Text: "operator  create configmaps default/blog-conf #1 → 201 ← lost", Fault: true}, {After: 1500 * time.Microsecond, Text: "  stored  ConfigMap default/blog-conf, by operator"}}
	ran := func(plan prove.Plan, symptom *prove.Symptom) prove.Result {
		result := prove.Result{Plan: plan, Ran: true, Struck: true, Symptom: symptom, Took: 120 * time.Millisecond}
		if symptom != nil {
			result.Writes, result.Timeline = writes, moments
		}
		return result
	}
	unstruck := ran(prove.Plan{Kind: prove.Conflict, Point: remove}, nil)
	unstruck.Struck = false
	strange := ran(failed, &extra)
	strange.Struck = false
	return &prove.Report{
		Scenario: prove.Scenario{Steps: []prove.Step{{Name: "apply the site"}, {Name: "delete it"}}},
		Plans:    8, Of: 9, Unstruck: 1, Writes: 3, Learning: 2 * time.Second, Exploring: 3140 * time.Millisecond, Durations: []time.Duration{120 * time.Millisecond},
		Leftover: []string{"Secret default/blog"},
		Requests: []prove.Point{config, service, remove},
		Findings: []prove.Finding{
			{ID: "0000000a", Plans: []prove.Plan{lost, killed}, Symptom: missing, Confirmed: true, Writes: writes},
			{ID: "0000000b", Plans: []prove.Plan{stale}, Symptom: extra, Confirmed: true, Accepted: "until the next release", Writes: writes},
			{ID: "0000000c", Plans: []prove.Plan{failed}, Symptom: extra, Writes: writes},
		},
		Results: []prove.Result{
			ran(prove.Plan{Kind: prove.Restarted}, nil), ran(prove.Plan{Kind: prove.Early}, nil), strange, ran(lost, &missing), ran(killed, &missing), ran(stale, &extra),
			ran(prove.Plan{Kind: prove.Lost, Point: service}, nil), unstruck, {Plan: prove.Plan{Kind: prove.Lost, Point: remove}},
		},
	}
}

func render(t *testing.T, r *prove.Report, about page.About) string {
	t.Helper()
	var b strings.Builder
	if err := page.Render(&b, r, about); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestGolden: the same report makes the same page. The style and the script are in files of their own.
func TestGolden(t *testing.T) {
	got := render(t, report(), page.About{Subject: "examples/site", Command: "slipway prove -f site.yaml"})
	for _, own := range []string{"style", "script"} {
		got = regexp.MustCompile(`(?s)<`+own+`>.*?</`+own+`>`).ReplaceAllString(got, "<"+own+"></"+own+">")
	}
	got = regexp.MustCompile(`sha256-.*?=&#39;`).ReplaceAllString(got, "sha256-…&#39;")
	file := filepath.Join("testdata", "page.golden.html")
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := safefs.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("the page is not as in %s; go test ./internal/prove/page -update writes it:\n%s", file, got)
	}
}

// TestHostile: what comes from an operator or a repository is text, wherever it is shown.
func TestHostile(t *testing.T) {
	const hostile = `"'><img src=x onerror=alert(1)></template></script><!--` + "\x1b[31m\u202e\x00\xff"
	r := report()
	r.Scenario.Steps = []prove.Step{{Name: hostile}, {Name: hostile}}
	r.Leftover, r.Timeline = []string{hostile}, []string{hostile}
	point := prove.Point{Verb: "create" + hostile, Group: hostile, Resource: hostile, Subresource: hostile, Namespace: hostile, Name: hostile, Nth: 2}
	plan := prove.Plan{Kind: prove.Kind(hostile), Point: point}
	symptom := prove.Symptom{Oracle: prove.Oracle(hostile), Differences: []prove.Difference{{Object: hostile, Field: hostile, Want: hostile, Got: hostile}}, Details: []string{hostile}}
	r.Findings = append(r.Findings, prove.Finding{ID: hostile, Plans: []prove.Plan{plan, plan}, Symptom: symptom, Confirmed: true, Accepted: hostile, Writes: []prove.Write{{Text: hostile}}})
	r.Results = append(r.Results, prove.Result{Plan: plan, Ran: true, Symptom: &symptom, Writes: []prove.Write{{Text: hostile}}, Timeline: []prove.Moment{{Text: hostile}}})
	got := render(t, r, page.About{Subject: hostile, Command: hostile})
	for _, raw := range []string{"<img", "\x1b", "\u202e", "\x00", "\xff"} {
		if strings.Contains(got, raw) {
			t.Errorf("%q is in the page as it came", raw)
		}
	}
	for _, part := range []string{"&lt;img src=x onerror=alert(1)&gt;", `\x1b[31m\u202e`} {
		if !strings.Contains(got, part) {
			t.Errorf("%q is not shown", part)
		}
	}
}

// TestLarge: values and lists of a finding do not make the page grow without bound.
func TestLarge(t *testing.T) {
	r := report()
	before := len(render(t, r, page.About{}))
	large := strings.Repeat("ö", 1<<20)
	symptom := *r.Results[3].Symptom
	for range 1000 {
		symptom.Differences = append(symptom.Differences, prove.Difference{Object: "Site default/blog", Field: "spec.x", Want: large, Got: large})
		symptom.Details = append(symptom.Details, large)
	}
	r.Timeline = []string{large}
	r.Results[3].Symptom, r.Findings[0].Symptom = &symptom, symptom
	got := render(t, r, page.About{})
	if len(got) > before+64<<10 || !strings.Contains(got, "more</p>") {
		t.Errorf("%d bytes instead of %d", len(got), before)
	}
}

// TestEmpty: a report without plans makes a page, too.
func TestEmpty(t *testing.T) {
	if got := render(t, &prove.Report{}, page.About{Subject: "app"}); !strings.Contains(got, "No plan has shown a symptom") {
		t.Error(got)
	}
}
