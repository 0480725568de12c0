package clusterspec

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestControllersOfTheProgram: the names are those that the cluster program publishes.
func TestControllersOfTheProgram(t *testing.T) {
	text, err := os.ReadFile("../../../docs/inside/protocol/controllers.json")
	if err != nil {
		t.Fatal(err)
	}
	var published []struct {
		Names  []string `json:"names"`
		Needed bool     `json:"needed"`
	}
	if err := json.Unmarshal(text, &published); err != nil {
		t.Fatal(err)
	}
	want, got := map[string]bool{}, map[string]bool{}
	for _, c := range published {
		want[strings.Join(c.Names, " ")] = c.Needed
	}
	for _, c := range controllers() {
		got[strings.Join(c.names, " ")] = c.needed
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-program +command:\n%s", diff)
	}
}

func TestParseControllers(t *testing.T) {
	for text, want := range map[string]string{
		"true": "true", "1": "true", "false": "false", "0": "false", "*": "true",
		"gc,namespace":                 "garbage-collector-controller,namespace-controller",
		"namespace, gc,gc":             "garbage-collector-controller,namespace-controller",
		"garbagecollector":             "garbage-collector-controller",
		"*,-job,-cronjob":              "*,-cronjob-controller,-job-controller",
		"-job,*,deployment":            "*,-job-controller,deployment-controller",
		"serviceaccount":               "serviceaccount-controller",
		"simulated-volume-provisioner": "simulated-volume-provisioner",
	} {
		got, err := ParseControllers(text)
		if err != nil || got.String() != want || got.Run != (want != "false") {
			t.Errorf("%s: %+v, %v; want %s", text, got, err, want)
		}
		if again, err := ParseControllers(got.String()); err != nil || !slices.Equal(again.Names, got.Names) {
			t.Errorf("%s again: %+v, %v", got, again, err)
		}
	}
	for _, tt := range []struct{ text, problem, hint string }{
		{"namespcae", `no controller "namespcae"`, "did you mean namespace?"},
		{"elephant", `no controller "elephant"`, "known are certificatesigningrequest-approving, "},
		{"", `no controller ""`, "known are"},
		{"gc,", `no controller ""`, "known are"},
		{"-job", "-job-controller excludes a controller", "*,-job-controller for all except this one"},
		{"job,-job", "job-controller is both", "keep one of them"},
		{"*,-serviceaccount", "the serviceaccount-controller runs in every cluster", "--controllers=false"},
		{"gc\x00", "no controller", ""},
		{"podgcc", "no controller", "did you mean podgc?"},
		{"job-controler", "no controller", "did you mean job-controller?"},
	} {
		if _, err := ParseControllers(tt.text); err == nil || !strings.Contains(err.Error(), tt.problem) || !strings.Contains(expected(err), tt.hint) {
			t.Errorf("%q: %v (%s)", tt.text, err, expected(err))
		}
	}
}
