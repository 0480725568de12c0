package rehearsal

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/slipway-dev/slipway/internal/junit"
)

// DefinitionFinding is a change of a definition that may break objects or clients, as its schemas have it.
func DefinitionFinding(definition, version, field, message string) Finding {
	f := Finding{Phase: upgradePhase, Class: DefinitionChange, Object: "crd/" + definition, Field: field, Text: message}
	if version != "" {
		f.Versions = []string{version}
	}
	return f
}

// Fatal is how many findings are fatal.
func (r *Report) Fatal() (n int) {
	for _, f := range r.Findings {
		if f.Fatal {
			n++
		}
	}
	return n
}

// Text is the report for people.
func (r *Report) Text() string {
	var b strings.Builder
	for _, f := range r.Findings {
		fmt.Fprintln(&b, f)
	}
	for _, request := range r.Untried {
		fmt.Fprintf(&b, "not tried: %s\n", request)
	}
	for _, s := range r.Service {
		fmt.Fprintf(&b, "%s: %d requests, %d refused", s.Phase, s.Requests, s.Refused)
		if s.Gap > 0 {
			fmt.Fprintf(&b, ", %s without service", s.Gap.Round(time.Millisecond))
		}
		fmt.Fprintf(&b, "; the longest took %s; deployed in %s\n", s.Longest.Round(time.Millisecond), s.Deployed.Round(100*time.Millisecond))
	}
	for _, definition := range slices.Sorted(maps.Keys(r.Stored)) {
		if v := r.Stored[definition]; !slices.Equal(v.Before, v.Upgrade) {
			fmt.Fprintf(&b, "%s: objects may be stored as %s; before as %s\n", definition, strings.Join(v.Upgrade, ", "), strings.Join(v.Before, ", "))
		}
	}
	switch {
	case r.Passed:
		fmt.Fprintf(&b, "%s → %s: nothing is lost, and the way back works (%s, %s)", r.From, r.To, r.counted(), r.Elapsed.Round(time.Second))
	case r.WayBack:
		fmt.Fprintf(&b, "%s → %s: the way back works (%s, %s)", r.From, r.To, r.counted(), r.Elapsed.Round(time.Second))
	default:
		fmt.Fprintf(&b, "%s → %s: the way back does not work (%s, %s)", r.From, r.To, r.counted(), r.Elapsed.Round(time.Second))
	}
	return b.String()
}

// counted are the objects in words.
func (r *Report) counted() string {
	if r.Objects == 1 {
		return "1 object"
	}
	return fmt.Sprintf("%d objects", r.Objects)
}

// String is a finding in a line.
func (f Finding) String() string {
	var b strings.Builder
	sign := "note: "
	if f.Fatal {
		sign = "problem: "
	}
	b.WriteString(sign + string(f.Class) + ": " + f.Object)
	if f.Field != "" {
		b.WriteString(" " + f.Field)
	}
	if len(f.Versions) > 0 {
		b.WriteString(" (" + strings.Join(f.Versions, ", ") + ")")
	}
	if f.Phase == backPhase {
		b.WriteString(", on the way back")
	}
	return b.String() + ": " + f.Text
}

// classes are all classes whose findings are fatal.
var classes = []Class{NotDeployed, ReadRefused, WriteRefused, NoService, ObjectLost, ObjectReplaced, FieldLost, FieldChanged, StatusLost, DefaultChanged,
	LossyConversion, FinalizerRenamed, NoEndpoints, LockRenamed, ManagerFails}

// JUnit is the report with a case for each class of problems.
func (r *Report) JUnit() junit.Suite {
	suite := junit.Suite{Name: "upgrade " + r.From + " → " + r.To, Time: r.Elapsed.Seconds()}
	for _, class := range classes {
		var failures []junit.Failure
		for _, f := range r.Findings {
			if f.Fatal && f.Class == class {
				failures = append(failures, junit.Failure{Message: f.String(), Text: f.String()})
			}
		}
		suite.Add(string(class), failures...)
	}
	return suite
}
