package delivery

import (
	"strings"
	"testing"
	"time"

	"github.com/slipway-dev/slipway/internal/explain"
	"github.com/slipway-dev/slipway/internal/report"
)

// fullWork has something of everything, with text that is hostile to terminals.
func fullWork() explain.Work {
	tally := []explain.Tally{{What: "create pods", Times: 3}}
	ref := report.ObjectRef{Kind: "Order", Namespace: "ns", Name: "first"}
	return explain.Work{
		Since: time.Now().Add(-time.Minute),
		Operators: []explain.OperatorWork{{
			User: "op\x1b[31m", Woken: tally, Reads: tally, Writes: tally, Idle: tally, Conflicts: tally, Refused: tally, Cached: tally,
			Restless: []explain.Restless{{Object: ref, Times: 20, Fields: []string{".spec.a: 1 → 2"}}},
		}},
		Controllers: []explain.ControllerWork{{
			Operator: "shop", Controller: "order", Reconciles: 41, Since: time.Now().Add(-time.Minute), PerMinute: 3.25, MedianMs: 4.123, P95Ms: 90, LongestMs: 120,
			Results: map[explain.Result]int{explain.Failed: 2, explain.Succeeded: 39}, Errors: 2, Newest: "no\x1b]0;stock\x07",
			Kinds: []explain.Tally{{What: "no …", Times: 1}, {What: "late", Times: 1}},
		}},
		Reconciles: []explain.Reconcile{{ID: "a", Object: &ref, Began: time.Now(), Result: explain.Failed, Error: "no"}},
	}
}

// TestWorkText: the text has all figures, and no controls of terminals.
func TestWorkText(t *testing.T) {
	text := workText(fullWork())
	for _, want := range []string{
		"in the last 1m0s:\n", "controller shop/order\n", "41 in 1m0s, 3.25 a minute; 4.12 ms in the median, 95 % within 90 ms, the longest 120 ms\n", "error 2, success 39\n",
		"2, the last one: no", "1 time: late\n", "caches grow by               create pods 3\n", "order/ns/first, 20 writes, the last one of .spec.a: 1 → 2\n",
	} {
		if !strings.Contains(text+"\n", want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	if strings.ContainsAny(text, "\x1b\x07") {
		t.Errorf("%q", text)
	}
}
