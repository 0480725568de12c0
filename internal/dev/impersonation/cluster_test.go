package impersonation_test

import (
	"context"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/yaml"

	"github.com/slipway-dev/slipway/internal/clusterctl"
	"github.com/slipway-dev/slipway/internal/dev/impersonation"
	"github.com/slipway-dev/slipway/internal/report"
)

var (
	configMaps = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
	pods       = schema.GroupVersionResource{Version: "v1", Resource: "pods"}
	secrets    = schema.GroupVersionResource{Version: "v1", Resource: "secrets"}
	reviews    = schema.GroupVersionResource{Group: "authentication.k8s.io", Version: "v1", Resource: "selfsubjectreviews"}
)

// rights are what the cluster has before the tests: the manager's account, and others that may impersonate it.
const rights = `
{apiVersion: v1, kind: Namespace, metadata: {name: system}}
---
{apiVersion: v1, kind: ServiceAccount, metadata: {name: manager, namespace: system}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: manager, namespace: system}
rules:
- {apiGroups: [""], resources: [configmaps], verbs: ["*"]}
- {apiGroups: [""], resources: [pods, pods/exec], verbs: [get, list, watch, create]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: manager, namespace: system}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: manager}
subjects: [{kind: ServiceAccount, name: manager, namespace: system}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: developer, namespace: system}
rules:
- {apiGroups: [""], resources: [serviceaccounts], resourceNames: [manager], verbs: [impersonate]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: developer, namespace: system}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: developer}
subjects: [{kind: ServiceAccount, name: developer, namespace: system}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: reader, namespace: system}
rules:
- {apiGroups: [authentication.k8s.io], resources: [serviceaccounts], verbs: ["impersonate:serviceaccount"]}
- {apiGroups: [""], resources: [configmaps], verbs: ["impersonate-on:serviceaccount:list"]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: reader, namespace: system}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: reader}
subjects: [{kind: ServiceAccount, name: reader, namespace: system}]
`

// startCluster starts a cluster and returns the configuration of its administrator, who has a client certificate.
func startCluster(t *testing.T) *rest.Config {
	t.Helper()
	if os.Getenv("SLIPWAY_CLUSTER") == "" {
		t.Skip("SLIPWAY_CLUSTER names no cluster program; `make test` does")
	}
	state := t.TempDir()
	control := clusterctl.New(func(name string) string {
		if name == "SLIPWAY_STATE" {
			return state
		}
		return os.Getenv(name)
	}, report.Discard)
	started, err := control.Start(t.Context(), "dev", clusterctl.Options{NoContext: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := control.Delete(context.Background(), "dev"); err != nil {
			t.Error(err)
		}
	})
	config, err := clientcmd.BuildConfigFromFlags("", started.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	client := objects(t, config)
	for text := range strings.SplitSeq(rights, "---\n") {
		object := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(text), &object.Object); err != nil {
			t.Fatal(err)
		}
		resource := schema.GroupVersionResource{Group: object.GroupVersionKind().Group, Version: "v1", Resource: strings.ToLower(object.GetKind()) + "s"}
		if _, err := client.Resource(resource).Namespace(object.GetNamespace()).Create(t.Context(), object, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	return config
}

func objects(t *testing.T, config *rest.Config) dynamic.Interface {
	t.Helper()
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func object(kind, name string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": kind, "metadata": map[string]any{"name": name}}}
}

// TestCluster starts one cluster for the tests of doors to a real one.
func TestCluster(t *testing.T) {
	admin := startCluster(t)
	t.Run("identity", func(t *testing.T) { testIdentity(t, admin) })
	t.Run("forbidden", func(t *testing.T) { testForbidden(t, admin) })
	t.Run("versions", func(t *testing.T) { testVersions(t, admin) })
	t.Run("watch", func(t *testing.T) { testWatch(t, admin) })
	t.Run("upgrade", func(t *testing.T) { testUpgrade(t, admin) })
	t.Run("rights", func(t *testing.T) { testRights(t, admin) })
}

// testIdentity: the API server sees the ServiceAccount with its groups.
func testIdentity(t *testing.T, admin *rest.Config) {
	e := enter(t, admin, impersonation.Username("system", "manager"))
	question := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}}
	answer, err := objects(t, e.config).Resource(reviews).Create(t.Context(), question, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var review authenticationv1.SelfSubjectReview
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(answer.Object, &review); err != nil {
		t.Fatal(err)
	}
	groups := slices.Sorted(slices.Values(review.Status.UserInfo.Groups))
	if want := []string{"system:authenticated", "system:serviceaccounts", "system:serviceaccounts:system"}; review.Status.UserInfo.Username != account || !slices.Equal(groups, want) {
		t.Errorf("%+v", review.Status.UserInfo)
	}
	if r := <-e.reports; r.Resource != "selfsubjectreviews" || r.Status != http.StatusCreated || r.User != account {
		t.Errorf("%+v", r)
	}
}

// testForbidden: what the account may not do is refused, and reported so that its rule can be named.
func testForbidden(t *testing.T, admin *rest.Config) {
	e := enter(t, admin, account)
	_, err := objects(t, e.config).Resource(secrets).Namespace("system").List(t.Context(), metav1.ListOptions{})
	if !apierrors.IsForbidden(err) {
		t.Error(err)
	}
	r := <-e.reports
	r.Latency = 0
	if want := (impersonation.Request{User: account, Verb: "list", Version: "v1", Resource: "secrets", Namespace: "system", Status: http.StatusForbidden}); r != want {
		t.Errorf("%+v, want %+v", r, want)
	}
}

// testVersions: the resource versions that a client reads are reported, in JSON and in protobuf.
func testVersions(t *testing.T, admin *rest.Config) {
	e := enter(t, admin, account)
	maps := objects(t, e.config).Resource(configMaps).Namespace("system")
	generated := object("ConfigMap", "")
	generated.SetGenerateName("version-")
	made, err := maps.Create(t.Context(), generated, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if r := <-e.reports; r.Name != made.GetName() || r.ResourceVersion != made.GetResourceVersion() || r.Verb != "create" {
		t.Errorf("%+v", r)
	}
	for _, form := range []string{"application/json", "application/vnd.kubernetes.protobuf"} {
		answer := e.do(t, http.MethodGet, "/api/v1/namespaces/system/configmaps/"+made.GetName(), nil, "Accept", form, "Accept-Encoding", "gzip")
		if _, err := io.Copy(io.Discard, answer.Body); err != nil || answer.Header.Get("Content-Type") != form {
			t.Errorf("%s: %v", answer.Header.Get("Content-Type"), err)
		}
		if r := <-e.reports; r.ResourceVersion != made.GetResourceVersion() {
			t.Errorf("%s: %+v", form, r)
		}
	}
	list, err := maps.List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if r := <-e.reports; r.ResourceVersion != list.GetResourceVersion() || r.Verb != "list" {
		t.Errorf("%+v", r)
	}
}

// testWatch: each event comes before the next thing happens, the initial ones of a streamed list too.
func testWatch(t *testing.T, admin *rest.Config) {
	e := enter(t, admin, account)
	direct := objects(t, admin).Resource(configMaps).Namespace("system")
	initial := true
	w, err := objects(t, e.config).Resource(configMaps).Namespace("system").Watch(t.Context(), metav1.ListOptions{
		SendInitialEvents: &initial, AllowWatchBookmarks: true, ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan, FieldSelector: "metadata.name=watched"})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	if r := <-e.reports; r.Verb != "watch" || r.Status != http.StatusOK || r.Name != "watched" || r.Namespace != "system" {
		t.Errorf("%+v", r)
	}
	if event := <-w.ResultChan(); event.Type != watch.Bookmark {
		t.Fatalf("%+v", event)
	}
	for range 10 {
		if _, err := direct.Create(t.Context(), object("ConfigMap", "watched"), metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		changed(t, w, watch.Added)
		if err := direct.Delete(t.Context(), "watched", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		changed(t, w, watch.Deleted)
	}
	if err := e.door.Close(); err != nil {
		t.Error(err)
	}
	for event := range w.ResultChan() { // which ends with the door
		if event.Type != watch.Error && event.Type != watch.Bookmark {
			t.Errorf("%+v", event)
		}
	}
}

// changed waits for the next change, which has to be of a type.
func changed(t *testing.T, w watch.Interface, want watch.EventType) {
	t.Helper()
	event := <-w.ResultChan()
	for event.Type == watch.Bookmark {
		event = <-w.ResultChan()
	}
	if event.Type != want {
		t.Fatalf("%+v, want %s", event, want)
	}
}

// testUpgrade: the API server's own words come over an upgraded connection: why it cannot run a command in a pod.
func testUpgrade(t *testing.T, admin *rest.Config) {
	pod := object("Pod", "target")
	pod.Object["spec"] = map[string]any{"containers": []any{map[string]any{"name": "main", "image": "example.com/none"}}}
	direct := objects(t, admin).Resource(pods).Namespace("system")
	made, err := direct.Create(t.Context(), pod, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	w, err := direct.Watch(t.Context(), metav1.ListOptions{FieldSelector: "metadata.name=target", ResourceVersion: made.GetResourceVersion()})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	for event := range w.ResultChan() {
		if phase, _, _ := unstructured.NestedString(event.Object.(*unstructured.Unstructured).Object, "status", "phase"); phase == "Running" {
			break
		}
	}
	e := enter(t, admin, account)
	const path = "/api/v1/namespaces/system/pods/target/exec?command=true&stdout=true"
	_, from := e.dial(t, path, "Upgrade: websocket", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==", "Sec-WebSocket-Protocol: v5.channel.k8s.io")
	answer, err := http.ReadResponse(from, nil)
	if err != nil || answer.StatusCode != http.StatusSwitchingProtocols || answer.Header.Get("Sec-WebSocket-Protocol") != "v5.channel.k8s.io" {
		t.Fatal(answer, err)
	}
	if r := <-e.reports; r.Subresource != "exec" || r.Name != "target" || r.Status != http.StatusSwitchingProtocols {
		t.Errorf("%+v", r)
	}
	said, _ := io.ReadAll(from) // to the end of the connection
	if !strings.Contains(string(said), "it cannot run a command") {
		t.Errorf("%q", said)
	}
	_, from = e.dial(t, strings.Replace(path, "exec", "attach", 1), "Upgrade: SPDY/3.1") // which the account may not do
	if answer, err = http.ReadResponse(from, nil); err != nil {
		t.Fatal(err)
	}
	if s := status(t, answer); s.Code != http.StatusForbidden || !strings.Contains(s.Message, account) {
		t.Errorf("%+v", s)
	}
	if r := <-e.reports; r.Subresource != "attach" || r.Status != http.StatusForbidden {
		t.Errorf("%+v", r)
	}
}

// testRights: who may impersonate the account learns so, and no others; and is right.
func testRights(t *testing.T, admin *rest.Config) {
	as := func(name string) *rest.Config {
		question := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest"}}
		accounts := schema.GroupVersionResource{Version: "v1", Resource: "serviceaccounts"}
		direct := objects(t, admin).Resource(accounts).Namespace("system")
		if name != "manager" {
			if _, err := direct.Create(t.Context(), object("ServiceAccount", name), metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		question.SetName(name)
		answer, err := direct.Create(t.Context(), question, metav1.CreateOptions{}, "token")
		if err != nil {
			t.Fatal(err)
		}
		config := rest.AnonymousClientConfig(admin)
		config.BearerToken, _, _ = unstructured.NestedString(answer.Object, "status", "token")
		return config
	}
	nested := rest.CopyConfig(admin)
	nested.Impersonate.UserName = "other"
	for name, tt := range map[string]struct {
		config    *rest.Config
		may       bool
		why       string
		onlyLists bool
	}{
		"admin":     {config: admin, may: true},
		"developer": {config: as("developer"), may: true},
		"reader":    {config: as("reader"), may: true, onlyLists: true},
		"manager":   {config: as("manager"), why: "impersonate"},
		"nested":    {config: nested, why: "impersonates other already"},
	} {
		may, why, err := impersonation.MayImpersonate(t.Context(), tt.config, "system", "manager")
		if err != nil || may != tt.may || !strings.Contains(why, tt.why) || may != (why == "") {
			t.Errorf("%s: %t, %q, %v", name, may, why, err)
		}
		if !may {
			continue
		}
		e := enter(t, tt.config, account)
		for path, want := range map[string]bool{"/api/v1/namespaces/system/configmaps": true, "/api/v1/namespaces/system/pods": !tt.onlyLists} {
			if answer := e.do(t, http.MethodGet, path, nil); answer.StatusCode == http.StatusOK != want {
				t.Errorf("%s: %s: %+v", name, path, status(t, answer))
			}
		}
	}
}
