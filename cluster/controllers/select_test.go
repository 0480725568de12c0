package controllers_test

import (
	"encoding/json"
	"errors"
	"flag"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-dev/slipway/cluster/controllers"
)

var update = flag.Bool("update", false, "write what users may select")

// published is what the command, which shares no code with this program, is held to.
const published = "../../docs/inside/protocol/controllers.json"

// TestPublishedNames: the names in the protocol's description are those that [controllers.Select] knows.
func TestPublishedNames(t *testing.T) {
	type controller struct {
		Names  []string `json:"names"`
		Needed bool     `json:"needed,omitempty"`
	}
	var got []controller
	seen := map[string]bool{}
	for _, c := range controllers.All() {
		got = append(got, controller{c.Names(), c.Needed()})
		for _, name := range c.Names() {
			if seen[name] {
				t.Errorf("%s is the name of two controllers", name)
			}
			seen[name] = true
		}
	}
	if *update {
		var text strings.Builder
		encoder := json.NewEncoder(&text)
		encoder.SetIndent("", "  ")
		if err := errors.Join(encoder.Encode(got), os.WriteFile(published, []byte(text.String()), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(published)
	if err != nil {
		t.Fatal(err)
	}
	var want []controller
	if err := json.Unmarshal(text, &want); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-published +now:\n%s", diff)
	}
}

func TestSelect(t *testing.T) {
	needed := []string{"serviceaccount-controller", "serviceaccount-token-controller", "root-ca-certificate-publisher-controller", "crd-removal-controller"}
	var all []string
	for _, c := range controllers.All() {
		all = append(all, c.Name)
	}
	without := func(names ...string) []string {
		return slices.DeleteFunc(slices.Clone(all), func(name string) bool { return slices.Contains(names, name) })
	}
	for _, tt := range []struct {
		list string
		want []string // besides those that are needed
	}{
		{"gc,namespace", []string{"namespace-controller", "garbage-collector-controller"}},
		{"garbage-collector-controller,garbagecollector,namespace-controller", []string{"namespace-controller", "garbage-collector-controller"}},
		{"serviceaccount", nil},
		{"*", all},
		{"*,-job,-cronjob-controller", without("job-controller", "cronjob-controller")},
		{"-job,*", without("job-controller")},
		{"job,-job", []string{"job-controller"}}, // the first one holds
		{"*,-job,job", without("job-controller")},
		{"-job", nil},
		{"simulated-volume-provisioner", []string{"simulated-volume-provisioner"}},
	} {
		list, err := controllers.Select(strings.Split(tt.list, ","))
		if err != nil {
			t.Errorf("%s: %v", tt.list, err)
		}
		var got []string
		for _, c := range list {
			got = append(got, c.Name)
		}
		want := slices.DeleteFunc(slices.Clone(all), func(name string) bool { return !slices.Contains(append(tt.want, needed...), name) })
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", tt.list, diff)
		}
	}
	if list, err := controllers.Select(nil); len(list) != len(all) || err != nil {
		t.Errorf("no selection: %d controllers, %v", len(list), err)
	}
	for _, list := range []string{"ttl", "", "gc,", "--job", "-serviceaccount", "*,-root-ca-cert-publisher"} {
		if _, err := controllers.Select(strings.Split(list, ",")); !errors.Is(err, controllers.ErrUnselectable) {
			t.Errorf("%q: %v", list, err)
		}
	}
}
