package generation

import (
	"fmt"
	"strings"
	"time"

	"github.com/slipway-dev/slipway/internal/generate"
	"github.com/slipway-dev/slipway/internal/operation"
	"github.com/slipway-dev/slipway/internal/report"
)

type generateSummary struct {
	Created   int           `json:"created"`
	Updated   int           `json:"updated"`
	Unchanged int           `json:"unchanged"`
	Left      int           `json:"left,omitempty"` // to the project's recipes, which edit these files
	Parsed    int           `json:"parsedFiles"`
	Checked   int           `json:"typeCheckedPackages"`
	Elapsed   time.Duration `json:"elapsedNanoseconds"`
	// ControllerGen is the version of controller-gen whose files these are.
	ControllerGen string `json:"controllerGen"`
}

func generated(result generate.Result, version string, elapsed time.Duration) report.Result {
	s := generateSummary{Parsed: result.Parsed, Checked: result.Checked, Elapsed: elapsed, ControllerGen: version, Left: len(result.Left)}
	for _, f := range result.Files {
		switch f.Action {
		case report.Created:
			s.Created++
		case report.Updated:
			s.Updated++
		default:
			s.Unchanged++
		}
	}
	return report.Result{Text: s.String(), Value: s}
}

// String returns the summary line.
func (s generateSummary) String() string {
	took := " (" + s.Elapsed.Round(time.Millisecond).String() + ")"
	switch total := s.Created + s.Updated + s.Unchanged; {
	case total == 0 && s.Left > 0:
		return "nothing generated: " + operation.Count(s.Left, "file") + " left to the project's recipes" + took
	case total == 0:
		return "nothing to generate: no kinds, no RBAC and no webhook markers" + took
	case s.Unchanged == total:
		return "nothing changed: " + operation.Count(total, "generated file") + " up to date" + took
	}
	var parts []string
	for _, p := range []struct {
		n    int
		what string
	}{{s.Created, "created"}, {s.Updated, "updated"}, {s.Unchanged, "unchanged"}} {
		if p.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", p.n, p.what))
		}
	}
	return "generated: " + strings.Join(parts, ", ") + took
}
