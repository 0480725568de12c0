package clusterspec

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/report"
)

// sample returns a text that the option's flag takes and that asks for another value than the default, with what it
// asks for.
func sample(t *testing.T, o Option) (string, Spec) {
	t.Helper()
	for _, text := range []string{"v=2", "v=true", "true", "false", "8080", "real", "pending"} {
		if s, err := (Flags{o.Flag: {text}}).Spec("slipway cluster start"); err == nil && o.asks(s) {
			return text, s
		}
	}
	t.Fatalf("no sample is a value of --%s other than its default: add one", o.Flag)
	return "", Spec{}
}

// TestEachOption: what the table says of an option holds wherever it is used, so that a new row needs no new test.
func TestEachOption(t *testing.T) {
	for _, o := range Options() {
		t.Run(o.Flag, func(t *testing.T) {
			text, asked := sample(t, o)
			if diff := o.differs(Merge(Spec{}, asked), asked); diff != "" {
				t.Errorf("what the base asks for is lost: %s", diff)
			}
			if diff := o.differs(Merge(asked, Spec{}), asked); diff != "" {
				t.Errorf("what is asked for is lost: %s", diff)
			}
			if got := Differences(asked, asked, true); len(got) > 0 {
				t.Errorf("it differs from itself: %q", got)
			}
			if got := Differences(asked, Spec{}, false); len(got) != 1 || !strings.HasPrefix(got[0], "--"+o.Flag) {
				t.Errorf("a cluster without it differs by %q", got)
			}
			if got := Differences(Spec{}, asked, false); len(got) > 0 {
				t.Errorf("flags that do not ask for it differ by %q", got)
			}
			if got := Differences(Spec{}, asked, true); (len(got) == 1) == o.keepsRunningValue {
				t.Errorf("a file that does not ask for it differs by %q", got)
			}
			checkNeed(t, o, asked)
			checkFile(t, o, text, asked)
		})
	}
}

// differs describes how s and want differ in the option.
func (o Option) differs(s, want Spec) string {
	if got, want := o.texts(s), o.texts(want); !maps.Equal(got, want) {
		return fmt.Sprintf("%q, want %q", got, want)
	}
	return ""
}

// checkNeed: where the nodes leave the option without effect, it is refused with a command that starts, and a later
// start forgets it.
func checkNeed(t *testing.T, o Option, asked Spec) {
	t.Helper()
	simulated := Spec{NodeKind: "simulated"}
	err := CheckNeeds(asked, simulated, "slipway cluster start")
	if o.needs.met == nil {
		if err != nil {
			t.Error(err)
		}
		return
	}
	e, ok := errors.AsType[*report.Error](err)
	if !ok || e.Where != "--"+o.Flag || e.Hint == "" || e.ExitCode() != report.UsageCode {
		t.Fatalf("with simulated nodes: %+v", err)
	}
	rest, _ := strings.CutPrefix(e.Next, "slipway cluster start --nodes real --"+o.Flag)
	again, err := Flags{"nodes": {"real"}, o.Flag: {cmp.Or(strings.TrimSpace(rest), "true")}}.Spec("slipway cluster start")
	if diff := o.differs(again, asked); err != nil || diff != "" || CheckNeeds(again, again, "") != nil {
		t.Errorf("%s: %v, %s", e.Next, err, diff)
	}
	if o.asks(Resume(simulated, asked, false)) {
		t.Error("simulated nodes inherit it")
	}
}

// checkFile: the key of the file asks for what the flag does, or is refused with the flag.
func checkFile(t *testing.T, o Option, text string, asked Spec) {
	t.Helper()
	if o.key == "" {
		return
	}
	key, value, _ := strings.Cut(text, "=")
	var failed error
	for _, form := range []string{text, "[" + text + "]", "{" + key + ": " + cmp.Or(value, "true") + "}", "[{name: " + text + "}]", "{flags: [" + text + "]}"} {
		d, err := Parse("f", []byte(o.key+": "+form))
		if err == nil && o.flagOnly == "" && o.differs(d.Spec, asked) == "" {
			return
		}
		if e, ok := errors.AsType[*report.Error](err); ok && o.flagOnly != "" && strings.Contains(e.What, o.flagOnly) && strings.Contains(e.Hint, "--"+o.Flag) {
			return
		}
		failed = cmp.Or(failed, err)
	}
	t.Errorf("the key %s does not ask for what --%s %s does: %v", o.key, o.Flag, text, failed)
}

// TestEachField: each field of a Spec is that of one option.
func TestEachField(t *testing.T) {
	for field := range reflect.TypeFor[Spec]().Fields() {
		base := Spec{}
		fill(reflect.ValueOf(&base).Elem().FieldByIndex(field.Index))
		var carriers []string
		for _, o := range Options() {
			var s Spec
			o.merge(&s, base)
			if !reflect.ValueOf(s).FieldByIndex(field.Index).IsZero() {
				carriers = append(carriers, o.Flag)
			}
		}
		if len(carriers) != 1 {
			t.Errorf("%s is the field of the options %q, not of one", field.Name, carriers)
		}
	}
}

// fill gives a value of a Spec something that is not zero.
func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(reflect.Zero(v.Type().Key()), reflect.Zero(v.Type().Elem()))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int:
		v.SetInt(1)
	default:
		v.SetString("x")
	}
}

// TestMerge: entries add up, those of what is asked for win, and groups are taken as a whole.
func TestMerge(t *testing.T) {
	base := Spec{NodeKind: "real", IsolatedOnly: true, Controllers: new(true), ControllerNames: []string{"a"}, HostPorts: []int{1, 2},
		FeatureGates: map[string]bool{"A": true, "B": true}, APIServerFlags: []string{"--v=1", "--event-ttl=3h"}}
	asked := Spec{NodeKind: "plain", Controllers: new(false), HostPorts: []int{3}, FeatureGates: map[string]bool{"B": false}, APIServerFlags: []string{"--v=2"}}
	want := Spec{NodeKind: "plain", Controllers: new(false), HostPorts: []int{3},
		FeatureGates: map[string]bool{"A": true, "B": false}, APIServerFlags: []string{"--event-ttl=3h", "--v=2"}}
	if got := Merge(asked, base); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	if !slices.Equal(base.APIServerFlags, []string{"--v=1", "--event-ttl=3h"}) || !base.FeatureGates["B"] {
		t.Errorf("the base is %+v now", base)
	}
}
