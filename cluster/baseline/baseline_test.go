package baseline_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/cluster/baseline"
	"github.com/slipway-dev/slipway/cluster/etcd"
)

const prefix = "/registry"

// widget is a custom resource, which is stored as JSON, with its key.
func widget(name, uid, color string) etcd.Pair {
	value := fmt.Sprintf(`{"apiVersion":"a.example.com/v1","kind":"Widget","metadata":{"namespace":"n","name":%q,"uid":%q},"color":%q}`, name, uid, color)
	return etcd.Pair{Key: []byte(prefix + "/a.example.com/widgets/n/" + name), Value: []byte(value)}
}

func lease(name, uid, holder string) etcd.Pair {
	p := widget(name, uid, holder)
	p.Key = []byte(prefix + "/leases/kube-node-lease/" + name)
	return p
}

func state(pairs ...etcd.Pair) etcd.Snapshot { return etcd.Snapshot{Pairs: pairs} }

func names(objects []baseline.Object) []string {
	var all []string
	for _, o := range objects {
		all = append(all, o.Name)
	}
	slices.Sort(all)
	return all
}

func TestDifference(t *testing.T) {
	base := baseline.Of(state(widget("kept", "1", "red"), widget("painted", "2", "red"), widget("lost", "3", "red"), widget("remade", "4", "red")), prefix)
	change := base.Difference(state(widget("kept", "1", "red"), widget("painted", "2", "blue"), widget("remade", "5", "red"), widget("new", "6", "red")))
	for what, got := range map[string]struct{ got, want []string }{
		"removed":  {names(change.Remove), []string{"new"}},
		"replaced": {names(change.Replace), []string{"remade"}},
		"restored": {names(change.Restore), []string{"lost", "painted", "remade"}},
	} {
		if !slices.Equal(got.got, got.want) {
			t.Errorf("%s: got %v, want %v", what, got.got, got.want)
		}
	}
	for i, o := range change.Restore {
		if string(o.Key) != string(change.Put[i].Key) {
			t.Errorf("%s is restored from %s", o.Key, change.Put[i].Key)
		}
	}
}

func TestTheSameStateDiffersInNothing(t *testing.T) {
	now := state(widget("a", "1", "red"), lease("n", "2", "x"))
	if change := baseline.Of(now, prefix).Difference(now); !change.Empty() {
		t.Errorf("got %+v", change)
	}
}

func TestBeatsDoNotCountButNewLeasesDo(t *testing.T) {
	base := baseline.Of(state(lease("n", "1", "x")), prefix)
	if change := base.Difference(state(lease("n", "1", "y"))); !change.Empty() {
		t.Errorf("a beat: got %+v", change)
	}
	if change := base.Difference(state(lease("n", "2", "x"))); !slices.Equal(names(change.Replace), []string{"n"}) {
		t.Errorf("a lease made anew: got %+v", change)
	}
	if change := base.Difference(state()); !slices.Equal(names(change.Restore), []string{"n"}) {
		t.Errorf("a lost lease: got %+v", change)
	}
}

func TestKeysThatExpireAreLeftAlone(t *testing.T) {
	p := etcd.Pair{Key: []byte(prefix + "/masterleases/127.0.0.1"), Value: []byte("x")}
	if change := baseline.Of(state(), prefix).Difference(state(p)); !change.Empty() {
		t.Errorf("a new one: got %+v", change)
	}
	if change := baseline.Of(state(p), prefix).Difference(state()); !change.Empty() {
		t.Errorf("an old one: got %+v", change)
	}
}

func TestLayersHaveOneObjectOfAResourceEach(t *testing.T) {
	base := baseline.Of(state(widget("lost", "1", "red"), widget("remade", "2", "red")), prefix)
	change := base.Difference(state(widget("remade", "3", "red"), widget("x", "4", "red"), widget("y", "5", "red")))
	remove, put := change.Layers()
	if len(remove) != 3 || len(put) != 2 {
		t.Fatalf("got %d and %d layers, want 3 and 2", len(remove), len(put))
	}
	for _, l := range append(remove, put...) {
		if len(l.Remove)+len(l.Put) != 1 || len(l.Put) != len(l.Restore) {
			t.Errorf("got %+v", l)
		}
	}
}

// TestLayersAreTransactions: what is removed and put fits into transactions, each with a revision of its own.
func TestLayersAreTransactions(t *testing.T) {
	var then []etcd.Pair
	for i := range 6 { // of a resource each
		p := widget(fmt.Sprint(i), "1", strings.Repeat("x", 400<<10))
		p.Key = fmt.Appendf(nil, "%s/a.example.com/widgets%d/n/%d", prefix, i, i)
		then = append(then, p)
	}
	_, put := baseline.Of(state(then...), prefix).Difference(state()).Layers()
	if len(put) != 3 {
		t.Errorf("got %d layers", len(put))
	}
	for _, l := range put {
		size := 0
		for _, p := range l.Put {
			size += len(p.Key) + len(p.Value)
		}
		if size > etcd.MaxTransaction || len(l.Put) != len(l.Restore) {
			t.Errorf("a layer of %d bytes in %d objects", size, len(l.Put))
		}
	}
}

// TestEncode: what is written and read again differs in nothing.
func TestEncode(t *testing.T) {
	now := state(widget("a", "1", "red"), lease("n", "2", "x"))
	var text bytes.Buffer
	if err := baseline.Of(now, prefix).Encode(&text); err != nil {
		t.Fatal(err)
	}
	base, err := baseline.Decode(&text)
	if err != nil {
		t.Fatal(err)
	}
	if change := base.Difference(now); !change.Empty() || base.Len() != 2 {
		t.Errorf("got %+v", change)
	}
	if _, err := baseline.Decode(strings.NewReader("damaged")); err == nil {
		t.Error("what is damaged is read")
	}
}

func TestMissingIsAdopted(t *testing.T) {
	namespace := etcd.Pair{Key: []byte(prefix + "/namespaces/n")}
	base := baseline.Of(state(namespace), prefix)
	account := etcd.Pair{Key: []byte(prefix + "/serviceaccounts/n/default"), Value: []byte("a")}
	authority := etcd.Pair{Key: []byte(prefix + "/configmaps/n/kube-root-ca.crt"), Value: []byte("b")}
	missing := base.Missing()
	if want := []string{string(account.Key), string(authority.Key)}; !slices.Equal(missing, want) {
		t.Fatalf("got %v, want %v", missing, want)
	}
	base.Adopt(missing, state(account, widget("other", "1", "red")))
	if got := base.Missing(); !slices.Equal(got, []string{string(authority.Key)}) {
		t.Errorf("after one came: got %v", got)
	}
	if change := base.Difference(state(namespace, account, widget("other", "1", "red"))); !slices.Equal(names(change.Remove), []string{"other"}) {
		t.Errorf("what was not missing was adopted: %+v", change)
	}
}

func TestWhatTheServerWritesLateIsAdopted(t *testing.T) {
	lease := etcd.Pair{Key: []byte(prefix + "/leases/kube-system/apiserver-abc"), Value: []byte("a")}
	authentication := etcd.Pair{Key: []byte(prefix + "/configmaps/kube-system/extension-apiserver-authentication"), Value: []byte("b")}
	base := baseline.Of(state(), prefix)
	if base.AdoptLate(state(lease, widget("other", "1", "red"))) {
		t.Error("one of two is said to be all")
	}
	if !base.AdoptLate(state(lease, authentication)) {
		t.Error("two of two are not all")
	}
	change := base.Difference(state(lease, widget("other", "1", "red")))
	if !slices.Equal(names(change.Remove), []string{"other"}) || len(change.Put) != 1 {
		t.Errorf("got %+v", change)
	}
}

func TestEventsAreAlwaysRemoved(t *testing.T) {
	event := widget("e", "1", "red")
	event.Key = []byte(prefix + "/events/default/e")
	if change := baseline.Of(state(event), prefix).Difference(state(event)); !slices.Equal(names(change.Remove), []string{"e"}) {
		t.Errorf("got %+v", change)
	}
	if change := baseline.Of(state(event), prefix).Difference(state()); !change.Empty() {
		t.Errorf("an old one comes back: %+v", change)
	}
}

func TestCRDsSayWhatTheyDefine(t *testing.T) {
	crd, err := json.Marshal(map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1beta1", "kind": "CustomResourceDefinition",
		"metadata": map[string]any{"name": "widgets.a.example.com"},
		"spec": map[string]any{
			"group": "a.example.com", "names": map[string]any{"plural": "widgets"},
			"versions": []map[string]any{{"name": "v1", "served": true}, {"name": "v0", "served": false}},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	key := []byte(prefix + "/apiextensions.k8s.io/customresourcedefinitions/widgets.a.example.com")
	change := baseline.Of(state(), prefix).Difference(state(etcd.Pair{Key: key, Value: crd}))
	if len(change.Remove) != 1 || len(change.Remove[0].Defines) != 1 {
		t.Fatalf("got %+v", change)
	}
	if got := change.Remove[0].Defines[0].String(); got != "a.example.com/v1, Resource=widgets" {
		t.Errorf("got %s", got)
	}
}

// crd is a definition of widgets with a condition, and its key.
func crd(name, condition string) etcd.Pair {
	value := fmt.Sprintf(`{"apiVersion":"apiextensions.k8s.io/v1beta1","kind":"CustomResourceDefinition","metadata":{"name":%q,"uid":"u"},
		"spec":{"group":"a.example.com","names":{"plural":"widgets"},"versions":[{"name":"v1","served":true},{"name":"v0"}]},
		"status":{"conditions":[%s]}}`, name, condition)
	return etcd.Pair{Key: []byte(prefix + "/apiextensions.k8s.io/customresourcedefinitions/" + name), Value: []byte(value)}
}

func TestUndecided(t *testing.T) {
	const service = "/apiregistration.k8s.io/apiservices/v1.a.example.com"
	listed := etcd.Pair{Key: []byte(prefix + service), Value: []byte("{}")}
	for condition, want := range map[string]int{
		"": 1,
		`{"type":"Established","status":"False"}`:                                           1,
		`{"type":"Established","status":"True"}`:                                            0,
		`{"type":"NamesAccepted","status":"False"},{"type":"Established","status":"False"}`: 0,
	} {
		base := baseline.Of(state(crd("widgets.a.example.com", condition), listed), prefix)
		if got := base.Undecided(); len(got) != want {
			t.Errorf("%s: got %v", condition, got)
		}
	}
	base := baseline.Of(state(crd("widgets.a.example.com", `{"type":"Established","status":"True"}`)), prefix)
	if got := base.Undecided(); !slices.Equal(got, []string{prefix + service}) {
		t.Errorf("without an APIService: %v", got)
	}
}

func TestHolds(t *testing.T) {
	event := widget("e", "9", "red")
	event.Key = []byte(prefix + "/events/n/e")
	base := baseline.Of(state(widget("a", "1", "red"), lease("n", "2", "x")), prefix)
	for name, tt := range map[string]struct {
		now  etcd.Snapshot
		want bool
	}{
		"the same":        {state(widget("a", "1", "red"), lease("n", "2", "x")), true},
		"an Event more":   {state(widget("a", "1", "red"), lease("n", "2", "x"), event), true},
		"a lease renewed": {state(widget("a", "1", "red"), lease("n", "2", "y")), true},
		"one more":        {state(widget("a", "1", "red"), lease("n", "2", "x"), widget("b", "3", "red")), false},
		"one less":        {state(lease("n", "2", "x")), false},
		"painted":         {state(widget("a", "1", "blue"), lease("n", "2", "x")), false},
	} {
		if got := base.Holds(tt.now); got != tt.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestLateConditionsAreAdopted(t *testing.T) {
	cidr := func(condition string) etcd.Pair {
		p := widget("kubernetes", "1", condition)
		p.Key = []byte(prefix + "/servicecidrs/kubernetes")
		return p
	}
	authentication := etcd.Pair{Key: []byte(prefix + "/configmaps/kube-system/extension-apiserver-authentication"), Value: []byte("{}")}
	server := etcd.Pair{Key: []byte(prefix + "/leases/kube-system/apiserver-a"), Value: []byte("{}")}
	base := baseline.Of(state(cidr(""), authentication, server), prefix)
	if base.AdoptLate(state(cidr(""), authentication, server)) {
		t.Error("nothing is late before it came")
	}
	judged := state(cidr("Ready"), authentication, server)
	if !base.AdoptLate(judged) || !base.Difference(judged).Empty() {
		t.Errorf("afterwards: %+v", base.Difference(judged))
	}
	if change := base.Difference(state(cidr("Ready, and edited"), authentication, server)); change.Empty() {
		t.Error("a later change is not undone")
	}
}

func TestOrphansAreWhatGoesWithItsCRD(t *testing.T) {
	crd := etcd.Pair{
		Key: []byte(prefix + "/apiextensions.k8s.io/customresourcedefinitions/widgets.a.example.com"),
		Value: []byte(`{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"widgets.a.example.com","uid":"c"},` +
			`"spec":{"group":"a.example.com","names":{"plural":"widgets"},"versions":[{"name":"v1","served":true}]}}`),
	}
	for name, test := range map[string]struct {
		then, now []etcd.Pair
		rest      int
		orphans   []string
	}{
		"with its CRD":  {nil, []etcd.Pair{crd, widget("x", "1", "red")}, 1, []string{"x"}},
		"the CRD stays": {[]etcd.Pair{crd}, []etcd.Pair{crd, widget("x", "1", "red")}, 1, nil},
	} {
		rest, orphans := baseline.Of(state(test.then...), prefix).Difference(state(test.now...)).Orphans()
		var gone []baseline.Object
		for _, part := range orphans {
			gone = append(gone, part.Remove...)
		}
		if len(rest.Remove) != test.rest || !slices.Equal(names(gone), test.orphans) {
			t.Errorf("%s: %d remain and %v are orphans", name, len(rest.Remove), names(gone))
		}
	}
}
