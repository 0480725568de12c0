package browser

import (
	"fmt"
	"time"

	"github.com/slipway-dev/slipway/internal/prove"
)

// kinds are those of the plans of a request.
var kinds = []prove.Kind{prove.KilledBefore, prove.KilledAfter, prove.Lost, prove.Stale, prove.Cut, prove.Conflict, prove.Failure, prove.Timeout}

// Sizes of the report.
const (
	steps    = 5
	requests = 25 // of a step
	plans    = 1000
)

// large is a report of a thousand plans. Every seventh request has findings, whose stories are as long as they get.
func large() *prove.Report {
	r := &prove.Report{
		Plans: plans - len(kinds), Of: plans, Unstruck: 5, Writes: steps * requests, Learning: 4 * time.Second, Exploring: 97 * time.Second, Durations: []time.Duration{180 * time.Millisecond},
		Leftover: []string{"Secret default/shop-0-credentials"}, Varying: []string{"Deployment default/shop-1|spec.replicas"},
	}
	resources := []prove.Point{{Group: "apps", Resource: "deployments"}, {Resource: "services"}, {Resource: "configmaps"}, {Group: "networking.k8s.io", Resource: "ingresses"}, {Group: "shop.example.com", Resource: "shops", Subresource: "status"}}
	verbs := []string{"create", "update", "patch", "delete", "get"}
	for step := range steps {
		r.Scenario.Steps = append(r.Scenario.Steps, prove.Step{Name: []string{"apply Shop default/shop", "scale up", "change the host", "rotate the credentials", "delete Shop default/shop"}[step]})
		for i := range requests {
			at := resources[i%len(resources)]
			at.Step, at.Verb, at.Namespace, at.Name, at.Nth = step, verbs[(i+step)%len(verbs)], "default", fmt.Sprintf("shop-%d", i), 1
			r.Requests = append(r.Requests, at)
			for _, kind := range kinds {
				r.Results = append(r.Results, result(r, prove.Plan{Kind: kind, Point: at}))
			}
		}
	}
	return r
}

// result is that of a plan. Findings are added to the report.
func result(r *prove.Report, plan prove.Plan) prove.Result {
	n := len(r.Requests)
	result := prove.Result{Plan: plan, Ran: n < steps*requests, Struck: n%24 != 0 || plan.Kind != prove.Lost, Took: time.Duration(100+n) * time.Millisecond}
	if n%7 != 3 || plan.Kind == prove.Conflict || plan.Kind == prove.Cut {
		return result
	}
	object := "Deployment " + plan.Point.Namespace + "/" + plan.Point.Name
	healed := n%2 == 0
	symptom := prove.Symptom{Oracle: prove.Diverged, Step: plan.Point.Step, Healed: &healed, Differences: []prove.Difference{
		{Object: object, Want: "(exists)"},
		{Object: "Shop default/shop", Field: "status.conditions.[type=Ready].status", Want: "True", Got: "False"},
		{Object: "Service default/shop", Field: "spec.ports.[0].targetPort", Want: "8080"},
		{Object: "ConfigMap default/shop-old", Got: "(exists)"},
	}}
	request := plan.Point.String()
	for i := range 9 {
		write := prove.Write{Text: "update shops.shop.example.com/status default/shop → 200"}
		if i == 4 {
			write = prove.Write{Text: request + " → 500 ← " + string(plan.Kind), Fault: true}
		}
		result.Writes = append(result.Writes, write)
	}
	for i := range 40 {
		moment := prove.Moment{After: time.Duration(i*i) * time.Millisecond, Text: "  stored  Shop default/shop (status.observedGeneration=2, status.phase=Pending), by operator"}
		if i == 10 {
			moment = prove.Moment{After: moment.After, Text: "operator  " + request + " → 500 ← " + string(plan.Kind), Fault: true}
		}
		result.Timeline = append(result.Timeline, moment)
	}
	result.Symptom = &symptom
	id := fmt.Sprintf("%08x", n)
	for i, f := range r.Findings {
		if f.ID == id {
			r.Findings[i].Plans = append(f.Plans, plan)
			return result
		}
	}
	f := prove.Finding{ID: id, Plans: []prove.Plan{plan}, Symptom: symptom, Confirmed: n%5 != 0, Writes: result.Writes}
	if n%4 == 1 {
		f.Accepted = "the next change of the Shop corrects it"
	}
	r.Findings = append(r.Findings, f)
	return result
}

// hostile has markup and control characters wherever an operator or a repository may have put them.
func hostile() *prove.Report {
	const text = `"'><img src=x onerror="window.hit=1"></template></script><script>window.hit=1</script>` + "\x1b[31m\u202e\u0007"
	plan := prove.Plan{Kind: prove.Lost, Point: prove.Point{Verb: "create", Group: text, Resource: text, Subresource: text, Namespace: text, Name: text, Nth: 2}}
	symptom := prove.Symptom{Oracle: prove.Diverged, Differences: []prove.Difference{{Object: text, Field: text, Want: text, Got: text}}, Details: []string{text}}
	writes := []prove.Write{{Text: text, Fault: true}}
	return &prove.Report{
		Scenario: prove.Scenario{Steps: []prove.Step{{Name: text}}}, Plans: 1, Of: 1, Leftover: []string{text}, Timeline: []string{text},
		Findings: []prove.Finding{{ID: "0000000a", Plans: []prove.Plan{plan}, Symptom: symptom, Confirmed: true, Writes: writes}},
		Results:  []prove.Result{{Plan: plan, Ran: true, Struck: true, Symptom: &symptom, Writes: writes, Timeline: []prove.Moment{{Text: text, Fault: true}}}},
	}
}
