package serve

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/remotecommand"

	"github.com/slipway-dev/slipway/cluster/internal/testlimit"
	"github.com/slipway-dev/slipway/cluster/protocol"
)

const (
	operatorUser = "system:serviceaccount:default:operator"
	openOperator = `{"user":"system:serviceaccount:default:operator","groups":["system:serviceaccounts","system:serviceaccounts:default","system:authenticated"],"namespace":"default"}`
)

// doorTest is a cluster with doors.
type doorTest struct {
	*ran
	socket string
	ready  line
	admin  *rest.Config
}

func newDoorTest(t testing.TB) *doorTest {
	t.Helper()
	dir := stateFolder(t)
	d := &doorTest{ran: run(t, configIn(dir)), socket: filepath.Join(dir, "socket")}
	d.ready = d.next("ready")
	d.admin = configOf(t, d.ready.Kubeconfig)
	t.Cleanup(func() { // before the folder goes
		d.stop()
		d.ends(statusOK)
	})
	admin := clientOf(t, d.admin)
	rules := []rbacv1.PolicyRule{
		{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"*"}},
		{APIGroups: []string{""}, Resources: []string{"pods/exec", "pods/log", "pods/portforward"}, Verbs: []string{"get", "create"}},
		{APIGroups: []string{"example.com"}, Resources: []string{"widgets"}, Verbs: []string{"*"}},
		{APIGroups: []string{"authentication.k8s.io"}, Resources: []string{"tokenreviews"}, Verbs: []string{"create"}},
	}
	_, err := admin.RbacV1().ClusterRoles().Create(t.Context(), &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "operator"}, Rules: rules}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = admin.RbacV1().ClusterRoleBindings().Create(t.Context(), &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "operator"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "operator"},
		Subjects:   []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: "default", Name: "operator"}},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		User: operatorUser, ResourceAttributes: &authorizationv1.ResourceAttributes{Namespace: "default", Verb: "get", Resource: "configmaps"},
	}}
	until(t, "the operator may do its work", func() bool {
		answer, err := admin.AuthorizationV1().SubjectAccessReviews().Create(t.Context(), review, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return answer.Status.Allowed
	})
	return d
}

// until asks until the answer is yes.
func until(t testing.TB, what string, yes func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for limit := time.After(testlimit.Hang); !yes(); {
		select {
		case <-tick.C:
		case <-limit:
			t.Fatal("not in time: " + what)
		}
	}
}

func configOf(t testing.TB, kubeconfig string) *rest.Config {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	config.QPS = -1
	return config
}

func clientOf(t testing.TB, config *rest.Config) *kubernetes.Clientset {
	t.Helper()
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// opened is a door, and the connection that opened it.
type opened struct {
	*partner
	protocol.DoorOpened
	conn   net.Conn
	config *rest.Config
	id     int64
}

// dial is a further client of the socket.
func (d *doorTest) dial(t testing.TB) *opened {
	t.Helper()
	conn, err := net.Dial("unix", d.socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return &opened{partner: newPartner(t, conn, conn), conn: conn}
}

func (d *doorTest) open(t testing.TB) *opened {
	t.Helper()
	o := d.dial(t)
	if reply := o.request("openDoor", openOperator, &o.DoorOpened); reply.Error != "" {
		t.Fatal(reply.Error)
	}
	o.config = configOf(t, o.Kubeconfig)
	return o
}

func (o *opened) request(method, params string, into any) line {
	o.t.Helper()
	o.id++
	return o.ask(o.id, fmt.Sprintf(`{"id":%d,"method":%q,"params":%s}`, o.id, method, params), into)
}

// reported is the next report of a verb and a resource, or path.
func (o *opened) reported(verb, of string) protocol.DoorRequest {
	o.t.Helper()
	for {
		if r := o.next("request"); r.Verb == verb && (r.Resource == of || r.Path == of) {
			if r.Door != o.Name || r.User != operatorUser || r.LatencyMs <= 0 || r.LatencyMs > float64(testlimit.Hang.Milliseconds()) {
				o.t.Errorf("%+v", r.DoorRequest)
			}
			return r.DoorRequest
		}
	}
}

// gone waits until neither the door nor its file is there.
func (o *opened) gone(t testing.TB) {
	t.Helper()
	until(t, "the door is gone", func() bool {
		conn, err := net.Dial("tcp", strings.TrimPrefix(o.Server, "https://"))
		if err == nil {
			_ = conn.Close()
		}
		_, there := os.Stat(filepath.Dir(o.Kubeconfig))
		return err != nil && errors.Is(there, os.ErrNotExist)
	})
}

// TestDoor: what an operator's process meets behind a door, and what is reported of it.
func TestDoor(t *testing.T) {
	d := newDoorTest(t)
	for name, test := range map[string]func(*testing.T, *doorTest){
		"identity": identity, "refusal": refusal, "objects": objects, "custom resources": customResources, "watches": watches,
		"upgrades": upgrades, "tokens": tokens, "headers": headers, "flood": flood, "ends": ends, "refused doors": refusedDoors,
		"inspections": inspections, "lags": lags,
	} {
		t.Run(name, func(t *testing.T) { test(t, d) })
	}
}

// identity: the server sees exactly the door's user, by HTTP/2 and HTTP/1.1 alike.
func identity(t *testing.T, d *doorTest) {
	o := d.open(t)
	for _, protocols := range [][]string{{"h2"}, {"http/1.1"}} {
		config := rest.CopyConfig(o.config)
		config.NextProtos = protocols
		review, err := clientOf(t, config).AuthenticationV1().SelfSubjectReviews().Create(t.Context(), &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		groups := []string{"system:serviceaccounts", "system:serviceaccounts:default", "system:authenticated"}
		if u := review.Status.UserInfo; u.Username != operatorUser || !slices.Equal(u.Groups, groups) || len(u.Extra) > 0 {
			t.Errorf("the server sees %+v", u)
		}
		if r := o.reported("create", "selfsubjectreviews"); r.Status != http.StatusCreated || r.Group != "authentication.k8s.io" || r.Version != "v1" {
			t.Errorf("%+v", r)
		}
	}
	if info, err := os.Stat(o.Kubeconfig); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if info, err := os.Stat(filepath.Dir(o.Kubeconfig)); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

// refusal: what RBAC does not allow is refused, and reported with what would have to be allowed.
func refusal(t *testing.T, d *doorTest) {
	o := d.open(t)
	client := clientOf(t, o.config)
	if _, err := client.CoreV1().Secrets("kube-system").List(t.Context(), metav1.ListOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("listing secrets: %v", err)
	}
	if r := o.reported("list", "secrets"); r.Status != http.StatusForbidden || r.Namespace != "kube-system" || r.Version != "v1" || r.ResourceVersion != "" {
		t.Errorf("%+v", r)
	}
	if err := client.AppsV1().Deployments("default").DeleteCollection(t.Context(), metav1.DeleteOptions{}, metav1.ListOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("deleting deployments: %v", err)
	}
	if r := o.reported("deletecollection", "deployments"); r.Status != http.StatusForbidden || r.Group != "apps" {
		t.Errorf("%+v", r)
	}
}

// objects: each form of an answer gives the version that the object then has.
func objects(t *testing.T, d *doorTest) {
	for _, form := range []string{"application/json", "application/vnd.kubernetes.protobuf"} {
		o := d.open(t)
		config := rest.CopyConfig(o.config)
		config.ContentType, config.AcceptContentTypes = form, form
		maps := clientOf(t, config).CoreV1().ConfigMaps("default")
		want := func(verb string, status int, name, version string, err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
			if r := o.reported(verb, "configmaps"); r.Status != status || r.Name != name || r.ResourceVersion != version || r.Namespace != "default" || r.Missed != 0 {
				t.Errorf("%s: %+v, want name %s, version %s", form, r, name, version)
			}
		}
		large := map[string]string{"resourceVersion": "7", "large": strings.Repeat("x", 900<<10)}
		made, err := maps.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
			GenerateName: "door-", Annotations: map[string]string{"resourceVersion": "8"},
		}, Data: large}, metav1.CreateOptions{})
		want("create", http.StatusCreated, made.GetName(), made.GetResourceVersion(), err)
		got, err := maps.Get(t.Context(), made.Name, metav1.GetOptions{})
		want("get", http.StatusOK, made.Name, got.GetResourceVersion(), err)
		got.Data["more"] = "x"
		put, err := maps.Update(t.Context(), got, metav1.UpdateOptions{})
		want("update", http.StatusOK, made.Name, put.GetResourceVersion(), err)
		patched, err := maps.Patch(t.Context(), made.Name, types.MergePatchType, []byte(`{"data":{"a":"b"}}`), metav1.PatchOptions{})
		want("patch", http.StatusOK, made.Name, patched.GetResourceVersion(), err)
		if patched.ResourceVersion == made.ResourceVersion || patched.Data["large"] != large["large"] {
			t.Error("the object was not changed, or lost something")
		}
		list, err := maps.List(t.Context(), metav1.ListOptions{})
		want("list", http.StatusOK, "", list.GetResourceVersion(), err)
		want("delete", http.StatusOK, made.Name, "", maps.Delete(t.Context(), made.Name, metav1.DeleteOptions{}))
	}
}

// widgets are of a kind without Go types.
var widgets = schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "widgets"}

const widgetDefinition = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"widgets.example.com"},
	"spec":{"group":"example.com","names":{"kind":"Widget","plural":"widgets"},"scope":"Namespaced","versions":[{"name":"v1","served":true,"storage":true,
	"schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}]}}`

// customResources: their members are in the order of the alphabet, so that a list's metadata follow the items.
func customResources(t *testing.T, d *doorTest) {
	o := d.open(t)
	var definition unstructured.Unstructured
	if err := definition.UnmarshalJSON([]byte(widgetDefinition)); err != nil {
		t.Fatal(err)
	}
	admin, err := dynamic.NewForConfig(d.admin)
	if err != nil {
		t.Fatal(err)
	}
	definitions := schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
	if _, err := admin.Resource(definitions).Create(t.Context(), &definition, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	client, err := dynamic.NewForConfig(o.config)
	if err != nil {
		t.Fatal(err)
	}
	all := client.Resource(widgets).Namespace("default")
	widget := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.com/v1", "kind": "Widget", "aaa": map[string]any{"metadata": map[string]any{"resourceVersion": "9"}},
		"metadata": map[string]any{"name": "one", "annotations": map[string]any{"a": `"},"resourceVersion":"9"`}},
		"spec":     map[string]any{"resourceVersion": "9"},
	}}
	var made *unstructured.Unstructured
	until(t, "widgets are served", func() (ok bool) {
		made, err = all.Create(t.Context(), widget, metav1.CreateOptions{})
		return err == nil
	})
	for r := o.reported("create", "widgets"); r.Status != http.StatusCreated || r.Name != "one" || r.ResourceVersion != made.GetResourceVersion(); r = o.reported("create", "widgets") {
		if r.Status != http.StatusNotFound { // until it is served
			t.Fatalf("%+v, want version %s", r, made.GetResourceVersion())
		}
	}
	list, err := all.List(t.Context(), metav1.ListOptions{})
	if err != nil || len(list.Items) != 1 {
		t.Fatal(err, list)
	}
	if r := o.reported("list", "widgets"); r.ResourceVersion != list.GetResourceVersion() {
		t.Errorf("%+v, want version %s", r, list.GetResourceVersion())
	}
}

// watches: they are reported when they begin, deliver events and end with the door.
func watches(t *testing.T, d *doorTest) {
	o := d.open(t)
	maps := clientOf(t, o.config).CoreV1().ConfigMaps("default")
	plain, err := maps.Watch(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	list, err := maps.Watch(t.Context(), metav1.ListOptions{
		SendInitialEvents: new(true), ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan, AllowWatchBookmarks: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if r := o.reported("watch", "configmaps"); r.Status != http.StatusOK || r.ResourceVersion != "" {
			t.Errorf("%+v", r)
		}
	}
	await := func(w watch.Interface, what string, is func(watch.Event) bool) {
		t.Helper()
		limit := time.After(testlimit.Hang)
		for {
			select {
			case e, ok := <-w.ResultChan():
				if !ok {
					t.Fatalf("the watch has ended without %s", what)
				}
				if is(e) {
					return
				}
			case <-limit:
				t.Fatalf("no %s", what)
			}
		}
	}
	await(list, "bookmark", func(e watch.Event) bool {
		m, ok := e.Object.(*corev1.ConfigMap)
		return ok && e.Type == watch.Bookmark && m.Annotations[metav1.InitialEventsAnnotationKey] == "true"
	})
	made, err := clientOf(t, d.admin).CoreV1().ConfigMaps("default").Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "watched-"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range []watch.Interface{plain, list} {
		await(w, made.Name, func(e watch.Event) bool {
			m, ok := e.Object.(*corev1.ConfigMap)
			return ok && e.Type == watch.Added && m.Name == made.Name
		})
	}
	if reply := o.request("closeDoor", fmt.Sprintf(`{"name":%q}`, o.Name), nil); reply.Error != "" {
		t.Fatal(reply.Error)
	}
	for _, w := range []watch.Interface{plain, list} {
		for limit := time.After(testlimit.Hang); ; {
			select {
			case _, ok := <-w.ResultChan():
				if ok {
					continue
				}
			case <-limit:
				t.Error("a watch goes on after its door was closed")
			}
			break
		}
	}
	o.gone(t)
}

// upgrades: exec reaches the pod's kubelet by WebSocket and by SPDY, with what each answers.
func upgrades(t *testing.T, d *doorTest) {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "upgraded"},
		Spec:       corev1.PodSpec{NodeName: "simulated-1", Containers: []corev1.Container{{Name: "c", Image: "c"}}},
	}
	if _, err := clientOf(t, d.admin).CoreV1().Pods("default").Create(t.Context(), pod, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	o := d.open(t)
	client := clientOf(t, o.config)
	exec := client.CoreV1().RESTClient().Post().Namespace("default").Resource("pods").Name("upgraded").SubResource("exec").
		VersionedParams(&corev1.PodExecOptions{Container: "c", Command: []string{"true"}, Stdout: true}, scheme.ParameterCodec).URL()
	websocket, err := remotecommand.NewWebSocketExecutor(o.config, http.MethodGet, exec.String())
	if err != nil {
		t.Fatal(err)
	}
	spdy, err := remotecommand.NewSPDYExecutor(o.config, http.MethodPost, exec)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		executor remotecommand.Executor
		verb     string
		status   int
	}{{websocket, "get", http.StatusSwitchingProtocols}, {spdy, "create", http.StatusBadRequest}} {
		var out bytes.Buffer
		err := tt.executor.StreamWithContext(t.Context(), remotecommand.StreamOptions{Stdout: &out})
		if err == nil || !strings.Contains(err.Error(), "is simulated") {
			t.Errorf("%s: %v, want the kubelet's refusal", tt.verb, err)
		}
		if r := o.reported(tt.verb, "pods"); r.Subresource != "exec" || r.Name != "upgraded" || r.Status != tt.status {
			t.Errorf("%+v, want status %d", r, tt.status)
		}
	}
	_, err = client.CoreV1().Pods("default").GetLogs("upgraded", &corev1.PodLogOptions{Follow: true}).Stream(t.Context())
	if err == nil || !strings.Contains(err.Error(), "it has no logs") {
		t.Errorf("logs: %v", err)
	}
	if r := o.reported("get", "pods"); r.Subresource != "log" || r.Status != http.StatusBadRequest {
		t.Errorf("%+v", r)
	}
}

// tokens: only a door's own token opens it, and it opens nothing else.
func tokens(t *testing.T, d *doorTest) {
	o, other := d.open(t), d.open(t)
	ask := func(server string, config *rest.Config, token string) (status int, body string) {
		t.Helper()
		config = rest.CopyConfig(config)
		config.BearerToken = ""
		client, err := rest.HTTPClientFor(config)
		if err != nil {
			t.Fatal(err)
		}
		defer client.CloseIdleConnections()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server+"/api/v1/namespaces/default/configmaps", nil)
		if err != nil {
			t.Fatal(err)
		}
		if token != "" {
			r.Header.Set("Authorization", token)
		}
		answer, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		return answer.StatusCode, string(text)
	}
	token := o.config.BearerToken
	_, refused := ask(d.admin.Host, o.config, "Bearer nonsense")
	for name, tt := range map[string]struct {
		server string
		config *rest.Config
		token  string
		status int
	}{
		"its token":                      {o.Server, o.config, "Bearer " + token, http.StatusOK},
		"a small scheme":                 {o.Server, o.config, "bearer " + token, http.StatusOK},
		"another door's":                 {o.Server, o.config, "Bearer " + other.config.BearerToken, http.StatusUnauthorized},
		"a part":                         {o.Server, o.config, "Bearer " + token[:len(token)-1], http.StatusUnauthorized},
		"more":                           {o.Server, o.config, "Bearer " + token + "x", http.StatusUnauthorized},
		"none":                           {o.Server, o.config, "", http.StatusUnauthorized},
		"empty":                          {o.Server, o.config, "Bearer ", http.StatusUnauthorized},
		"another scheme":                 {o.Server, o.config, "Basic " + token, http.StatusUnauthorized},
		"an administrator's certificate": {o.Server, d.admin, "", http.StatusUnauthorized},
		"the server itself":              {d.admin.Host, o.config, "Bearer " + token, http.StatusUnauthorized},
	} {
		status, body := ask(tt.server, tt.config, tt.token)
		if status != tt.status || status == http.StatusUnauthorized && body != refused {
			t.Errorf("%s: %d %s", name, status, body)
		}
	}
	if len(token) < 43 { // 256 bits in base64
		t.Errorf("a token of %d characters", len(token))
	}
}

// headers: no header makes a client another user, but those of impersonation if the user may do that.
func headers(t *testing.T, d *doorTest) {
	o := d.open(t)
	for name, tt := range map[string]struct {
		headers http.Header
		status  int
	}{
		"front proxy":   {http.Header{"X-Remote-User": {"admin"}, "X-Remote-Group": {"system:masters"}, "X-Remote-Extra-A": {"b"}}, http.StatusForbidden},
		"impersonation": {http.Header{"Impersonate-User": {"admin"}, "Impersonate-Group": {"system:masters"}}, http.StatusForbidden},
	} {
		config := rest.CopyConfig(o.config)
		config.Wrap(func(next http.RoundTripper) http.RoundTripper {
			return roundTripper(func(r *http.Request) (*http.Response, error) {
				for key, values := range tt.headers {
					r.Header[key] = values
				}
				return next.RoundTrip(r)
			})
		})
		config.TLSClientConfig.CertData, config.TLSClientConfig.KeyData = d.admin.CertData, d.admin.KeyData
		_, err := clientOf(t, config).CoreV1().Secrets("default").List(t.Context(), metav1.ListOptions{})
		if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), operatorUser) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// A question about a token is no request of the token's owner.
	review, err := clientOf(t, o.config).AuthenticationV1().TokenReviews().Create(t.Context(), &authenticationv1.TokenReview{Spec: authenticationv1.TokenReviewSpec{Token: "nonsense"}}, metav1.CreateOptions{})
	if err != nil || review.Status.Authenticated {
		t.Errorf("a token of nonsense: %+v, %v", review, err)
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// flood: a client that does not read its reports holds nothing up, and learns how many it has missed.
func flood(t *testing.T, d *doorTest) {
	const all, atOnce = 10000, 8
	o := d.open(t) // its lines are read until a hundred wait
	client, err := rest.HTTPClientFor(o.config)
	if err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	var failed atomic.Int64
	for range atOnce {
		group.Go(func() {
			for range all / atOnce {
				answer, err := client.Get(o.Server + "/version")
				if err != nil || answer.StatusCode != http.StatusOK {
					failed.Add(1)
					continue
				}
				_, _ = io.Copy(io.Discard, answer.Body)
				_ = answer.Body.Close()
			}
		})
	}
	group.Wait()
	if n := failed.Load(); n > 0 {
		t.Fatalf("%d requests failed", n)
	}
	told, missed := 0, 0
	for told+missed < all {
		if len(o.lines) == 0 { // all that waited was read, perhaps: the next report says how many were missed
			answer, err := client.Get(o.Server + "/livez")
			if err != nil {
				t.Fatal(err)
			}
			_ = answer.Body.Close()
		}
		r := o.next("request")
		missed += r.Missed
		if r.Path == "/version" {
			told++
		} else if r.Path != "/livez" {
			t.Fatalf("%+v", r.DoorRequest)
		}
	}
	if told+missed < all || missed == 0 {
		t.Errorf("%d were reported and %d missed, of %d", told, missed, all)
	}
}

// ends: a door ends with its connection, and with its cluster.
func ends(t *testing.T, d *doorTest) {
	killed, stays := d.open(t), d.open(t)
	w, err := clientOf(t, killed.config).CoreV1().ConfigMaps("default").Watch(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := killed.conn.Close(); err != nil {
		t.Fatal(err)
	}
	killed.gone(t)
	for range w.ResultChan() {
	}
	half := d.open(t)
	if err := half.conn.(*net.UnixConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	half.gone(t)
	logical := d.dial(t)
	if reply := logical.request("addLogical", `{"name":"doors","controllers":false}`, nil); reply.Error != "" {
		t.Fatal(reply.Error)
	}
	if reply := logical.request("openDoor", `{"logical":"doors","user":"u","groups":["system:authenticated"]}`, &logical.DoorOpened); reply.Error != "" {
		t.Fatal(reply.Error)
	}
	if _, err := clientOf(t, configOf(t, logical.Kubeconfig)).Discovery().ServerVersion(); err != nil {
		t.Error(err)
	}
	if reply := logical.request("removeLogical", `{"name":"doors"}`, nil); reply.Error != "" {
		t.Fatal(reply.Error)
	}
	logical.gone(t)
	if reply := logical.request("closeDoor", fmt.Sprintf(`{"name":%q}`, logical.Name), nil); reply.Error != "" {
		t.Errorf("a door that closed with its cluster: %s", reply.Error)
	}
	if _, err := clientOf(t, stays.config).Discovery().ServerVersion(); err != nil {
		t.Errorf("another door: %v", err)
	}
}

// refusedDoors: what cannot be opened or closed is refused with the reason.
func refusedDoors(t *testing.T, d *doorTest) {
	o, other := d.open(t), d.dial(t)
	for _, tt := range []struct{ method, params, want string }{
		{"openDoor", `{"user":"","groups":[]}`, "it names no user"},
		{"openDoor", `{"user":"u","groups":["system:authenticated","system:masters"]}`, "system:masters has all rights"},
		{"openDoor", `{"user":"u","groups":[],"logical":"none"}`, "no such logical cluster"},
		{"openDoor", `{"user":"u","groups":[],"port":1}`, "port"},
		{"closeDoor", `{"name":"none"}`, `no open door of that name: "none"`},
		{"closeDoor", fmt.Sprintf(`{"name":%q}`, o.Name), "no open door of that name"},
	} {
		if reply := other.request(tt.method, tt.params, nil); !strings.Contains(reply.Error, tt.want) {
			t.Errorf("%s %s: %q, want %q", tt.method, tt.params, reply.Error, tt.want)
		}
	}
	names := map[string]bool{o.Name: true}
	for range maxDoors {
		var door protocol.DoorOpened
		if reply := other.request("openDoor", `{"user":"u","groups":[]}`, &door); reply.Error != "" || names[door.Name] {
			t.Fatalf("%+v, %s", door, reply.Error)
		}
		names[door.Name] = true
	}
	if reply := other.request("openDoor", openOperator, nil); reply.Error != errDoors.Error() {
		t.Errorf("one door more: %q", reply.Error)
	}
	for range 2 { // the second time it is not there any more
		reply := o.request("closeDoor", fmt.Sprintf(`{"name":%q}`, o.Name), nil)
		if again := names[o.Name]; (reply.Error == "") != again {
			t.Errorf("closing: %q", reply.Error)
		}
		names[o.Name] = false
	}
	o.gone(t)
}

// BenchmarkGet is a GET of a small object through a door, and through the API server's own listener beside it.
func BenchmarkGet(b *testing.B) {
	d := newDoorTest(b)
	o := d.open(b)
	go func() {
		for range o.lines {
		}
	}()
	for name, config := range map[string]*rest.Config{"door": o.config, "listener": d.admin} {
		b.Run(name, func(b *testing.B) {
			maps := clientOf(b, config).CoreV1().ConfigMaps("default")
			for b.Loop() {
				if _, err := maps.Get(context.Background(), "kube-root-ca.crt", metav1.GetOptions{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
