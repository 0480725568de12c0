package delivery

import (
	"fmt"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/explain"
	"github.com/slipway-dev/slipway/internal/report"
)

// fullAnswer has something of everything, with text that is hostile to terminals.
func fullAnswer() explain.Answer {
	ref := func(kind, name string) report.ObjectRef {
		return report.ObjectRef{Kind: kind, Namespace: "ns", Name: name}
	}
	a := explain.Answer{
		Object: ref("Order", "first"), State: explain.NotReady, More: 7,
		Causes:     []explain.Cause{{Object: ref("Pod", "first-0"), Reason: "CrashLoopBackOff", Message: "container c:\n\x1b[31mred\x07", Container: "c", Next: "slipway kubectl logs first-0", Log: []string{"\x1b]0;title\x07fire"}}},
		Tree:       []explain.Member{{Object: ref("Order", "first"), State: explain.NotReady, Text: "\x1b[2J"}},
		References: []explain.Reference{{Object: ref("Secret", "password"), By: ref("Order", "first"), Field: ".spec.secretName", Missing: true}},
		Unknown:    []string{"nodes: the user of the kubeconfig may not read it\x1b[0m"},
	}
	for i := range 20 {
		a.Causes = append(a.Causes, explain.Cause{Object: ref("Order", "first"), Reason: "NoStock", Message: fmt.Sprint("shelf ", i)})
		a.Tree = append(a.Tree, explain.Member{Object: ref("Pod", fmt.Sprint("first-", i)), State: explain.Ready, Depth: 1})
	}
	return a
}

// TestExplanationText: the first line has the cause; the text fits on a screen and has no controls.
func TestExplanationText(t *testing.T) {
	text := explanationText(fullAnswer(), false)
	if want := `order/ns/first is not ready: CrashLoopBackOff: container c: \x1b[31mred\a` + "\n"; !strings.HasPrefix(text, want) {
		t.Errorf("the first line is not %q:\n%s", want, text)
	}
	for _, want := range []string{"in       pod/ns/first-0", "try      slipway kubectl logs first-0", `log      \x1b]0;title\afire`, "and 17 more", "missing  secret/ns/password", "  pod/first-0 ", "and 9 more, which --tree lists", "and 7 more", "unknown: nodes"} {
		if !strings.Contains(text, want) {
			t.Errorf("the text lacks %q:\n%s", want, text)
		}
	}
	if strings.ContainsAny(text, "\x1b\x07") || strings.Count(text, "\n") > 30 {
		t.Errorf("the text has controls, or does not fit on a screen:\n%q", text)
	}
	if all := explanationText(fullAnswer(), true); !strings.Contains(all, "pod/first-19") {
		t.Errorf("--tree leaves something out:\n%s", all)
	}
}

// TestFirstLine: each state has its sentence.
func TestFirstLine(t *testing.T) {
	object := report.ObjectRef{Kind: "Order", Name: "first"}
	cause := []explain.Cause{{Reason: "Why", Message: "so"}}
	for want, a := range map[string]explain.Answer{
		"order/first is ready":                          {State: explain.Ready},
		"order/first is ready, but: Why: so":            {State: explain.Ready, Causes: cause},
		"order/first is in progress: pod/x: it starts":  {State: explain.InProgress, Waiting: "pod/x: it starts"},
		"order/first is not ready: Why: so":             {State: explain.NotReady, Causes: cause},
		"order/first is being deleted":                  {State: explain.Deleting},
		"order/first is stuck in its deletion: Why: so": {State: explain.Stuck, Causes: cause},
		"order/first does not exist":                    {State: explain.Missing},
		"order/first does not exist: Why: so":           {State: explain.Missing, Causes: cause},
	} {
		a.Object = object
		if got := firstLine(a); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
