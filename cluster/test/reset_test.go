package test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"

	"github.com/slipway-dev/slipway/cluster/protocol"
)

// call makes a request and returns when it is answered.
func (c *client) call(method string, params, result any) {
	c.t.Helper()
	if refusal := c.ask(method, params, result); refusal != "" {
		c.t.Fatalf("%s: %s", method, refusal)
	}
}

// ask makes a request and returns the error that it was answered with.
func (c *client) ask(method string, params, result any) string {
	c.t.Helper()
	request, err := json.Marshal(map[string]any{"id": 1, "method": method, "params": params})
	if err != nil {
		c.t.Fatal(err)
	}
	c.send(string(request))
	reply := c.next("reply")
	if reply.Error == "" && result != nil {
		if err := json.Unmarshal(reply.Result, result); err != nil {
			c.t.Fatal(err)
		}
	}
	return reply.Error
}

func (c *client) reset() protocol.ResetDone {
	c.t.Helper()
	return c.resetTo("")
}

// content is what a reset has to get rid of, about 200 objects of all kinds.
type content struct {
	namespaces, configMaps, deployments, services, crds, customs int
}

func mixed() content { return content{3, 80, 8, 20, 4, 40} }

// fill makes the content, as several clients do that work side by side.
func (w content) fill(t *testing.T, c clients) {
	t.Helper()
	for i := range w.namespaces {
		create(t, "namespace", func(ctx context.Context) error {
			ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("space-%d", i)}}
			_, err := c.CoreV1().Namespaces().Create(ctx, ns, metav1.CreateOptions{})
			return err
		})
	}
	var group sync.WaitGroup
	for _, part := range []func(*testing.T, clients){w.makeConfigMaps, w.makeDeployments, w.makeServices, makeRules} {
		group.Go(func() { part(t, c) })
	}
	w.makeCustoms(t, c)
	group.Wait()
}

func (w content) space(i int) string {
	if w.namespaces == 0 || i%2 == 0 {
		return "default"
	}
	return fmt.Sprintf("space-%d", i%w.namespaces)
}

func create(t *testing.T, what string, f func(context.Context) error) {
	t.Helper()
	if err := f(t.Context()); err != nil {
		t.Errorf("create %s: %v", what, err)
	}
}

func (w content) makeConfigMaps(t *testing.T, c clients) {
	for i := range w.configMaps {
		create(t, "ConfigMap", func(ctx context.Context) error {
			m := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("map-%d", i), Finalizers: []string{"example.com/held"}}}
			_, err := c.CoreV1().ConfigMaps(w.space(i)).Create(ctx, m, metav1.CreateOptions{})
			return err
		})
	}
}

func (w content) makeDeployments(t *testing.T, c clients) {
	for i := range w.deployments {
		create(t, "Deployment", func(ctx context.Context) error {
			_, err := c.AppsV1().Deployments(w.space(i)).Create(ctx, deployment(fmt.Sprintf("web-%d", i)), metav1.CreateOptions{})
			return err
		})
	}
}

func deployment(name string) *appsv1.Deployment {
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: appsv1.DeploymentSpec{
			Replicas: ptr.To[int32](2),
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": name}},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": name}},
				Spec:       podTemplate(corev1.RestartPolicyAlways).Spec,
			},
		},
	}
}

const firstNodePort = 30500

func service(i int) *corev1.Service {
	s := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("service-%d", i)},
		Spec: corev1.ServiceSpec{
			ClusterIP: fmt.Sprintf("10.0.77.%d", i+1),
			Selector:  map[string]string{"app": fmt.Sprintf("web-%d", i)},
			Ports:     []corev1.ServicePort{{Port: 80}},
		},
	}
	if i%2 == 0 {
		s.Spec.Type, s.Spec.Ports[0].NodePort = corev1.ServiceTypeNodePort, int32(firstNodePort+i)
	}
	return s
}

func (w content) makeServices(t *testing.T, c clients) {
	for i := range w.services {
		create(t, "Service", func(ctx context.Context) error {
			_, err := c.CoreV1().Services(w.space(i)).Create(ctx, service(i), metav1.CreateOptions{})
			return err
		})
	}
}

func customResource(i int) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: fmt.Sprintf("widgets%d", i)}
}

func (w content) makeCustoms(t *testing.T, c clients) {
	for i := range w.crds {
		makeCRD(t, c, customResource(i))
	}
	for i := range w.customs {
		create(t, "custom object", func(ctx context.Context) error {
			return makeCustom(ctx, c, i%w.crds, w.space(i), fmt.Sprintf("custom-%d", i))
		})
	}
}

func makeCustom(ctx context.Context, c clients, crd int, namespace, name string) error {
	r := customResource(crd)
	o := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": r.GroupVersion().String(), "kind": kind(r),
		"metadata": map[string]any{"name": name, "finalizers": []any{"example.com/held"}},
	}}
	_, err := c.dynamic.Resource(r).Namespace(namespace).Create(ctx, o, metav1.CreateOptions{})
	return err
}

// makeRules makes what would refuse requests if it stayed in force, or allow too many.
func makeRules(t *testing.T, c clients) {
	create(t, "ClusterRoleBinding", func(ctx context.Context) error {
		b := &rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: "everybody"},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"},
			Subjects:   []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: "jane"}},
		}
		_, err := c.RbacV1().ClusterRoleBindings().Create(ctx, b, metav1.CreateOptions{})
		return err
	})
	create(t, "webhook configuration", func(ctx context.Context) error {
		w := &admissionv1.ValidatingWebhookConfiguration{
			ObjectMeta: metav1.ObjectMeta{Name: "refuse"},
			Webhooks: []admissionv1.ValidatingWebhook{{
				Name:                    "refuse.example.com",
				ClientConfig:            admissionv1.WebhookClientConfig{URL: ptr.To("https://127.0.0.1:1/nobody-is-there")},
				AdmissionReviewVersions: []string{"v1"}, SideEffects: ptr.To(admissionv1.SideEffectClassNone),
				Rules: []admissionv1.RuleWithOperations{{
					Operations: []admissionv1.OperationType{admissionv1.Create},
					Rule:       admissionv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"secrets"}},
				}},
			}},
		}
		_, err := c.AdmissionregistrationV1().ValidatingWebhookConfigurations().Create(ctx, w, metav1.CreateOptions{})
		return err
	})
}

// inventory is all objects by resource, namespace and name, as lists that may be old show
// them. The value is the UID.
func inventory(t *testing.T, c clients) map[string]string {
	t.Helper()
	client, err := metadata.NewForConfig(c.config)
	if err != nil {
		t.Fatal(err)
	}
	lists, err := c.Discovery().ServerPreferredResources()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, list := range lists {
		version, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range list.APIResources {
			// Objects that cannot be deleted, such as metrics, are not stored.
			if slices.Contains(r.Verbs, "list") && slices.Contains(r.Verbs, "delete") {
				addAll(t, all, client, version.WithResource(r.Name))
			}
		}
	}
	return all
}

// authentication is a ConfigMap of kube-system.
const authentication = "extension-apiserver-authentication"

// fresh is the inventory once the API server has made what it makes by itself after it is ready;
// what controllers make so, a reset waits for.
func fresh(t *testing.T, p *program, c clients) map[string]string {
	t.Helper()
	eventually(t, "the API server's own objects", func(ctx context.Context) (bool, error) {
		one := metav1.ListOptions{FieldSelector: "metadata.name=" + authentication}
		if list, err := c.CoreV1().ConfigMaps("kube-system").List(ctx, one); err != nil || len(list.Items) == 0 {
			return false, err
		}
		leases, err := c.CoordinationV1().Leases("kube-system").List(ctx, metav1.ListOptions{LabelSelector: "apiserver.kubernetes.io/identity"})
		return err == nil && len(leases.Items) > 0, err
	})
	p.reset()
	return inventory(t, c)
}

func addAll(t *testing.T, all map[string]string, client metadata.Interface, r schema.GroupVersionResource) {
	t.Helper()
	for _, version := range []string{"", "0"} {
		objects, err := client.Resource(r).List(t.Context(), metav1.ListOptions{ResourceVersion: version})
		if err != nil {
			t.Errorf("list %s: %v", r, err)
			return
		}
		for _, o := range objects.Items {
			if r.Resource == "events" && strings.HasPrefix(o.Name, "simulated-1.") {
				continue // nodes go on, and what happens to them is told at any time
			}
			all[r.Resource+" "+o.Namespace+"/"+o.Name] = string(o.UID)
		}
	}
}

// wantSame compares two inventories, but for Events: a controller may tell of something only after that is gone.
func wantSame(t *testing.T, before, after map[string]string) {
	t.Helper()
	for name, uid := range after {
		if before[name] != uid && !isEvent(name) {
			t.Errorf("should not be there: %s (%s, before %q)", name, uid, before[name])
		}
	}
	for name := range before {
		if after[name] == "" && !isEvent(name) {
			t.Errorf("is missing: %s", name)
		}
	}
}

func isEvent(name string) bool { return strings.HasPrefix(name, "events ") }

// TestReset has a cluster that is reset again and again.
func TestReset(t *testing.T) {
	t.Parallel()
	p := start(t, newConfig(t))
	c := p.clients()
	t.Run("leads back", func(t *testing.T) { testLeadsBack(t, p, c) })
	t.Run("in flight", func(t *testing.T) { testResetInFlight(t, p, c) })
	t.Run("after that controllers work", func(t *testing.T) { deploymentWorks(t, c, "after") })
	t.Run("is fast", func(t *testing.T) { testResetIsFast(t, p, c) })
}

func testLeadsBack(t *testing.T, p *program, c clients) {
	before := fresh(t, p, c)
	t.Run("everything made is gone", func(t *testing.T) { everythingGoes(t, p, c, before) })
	t.Run("everything lost is back", func(t *testing.T) { everythingIsBack(t, p, c, before) })
	t.Run("an operator deletes what comes back", func(t *testing.T) { deletedAtOnce(t, p, c) })
	t.Run("rules are not in force", func(t *testing.T) { rulesAreGone(t, p, c) })
	t.Run("names can be used again", func(t *testing.T) { namesAreFree(t, p, c) })
	t.Run("controllers go on", func(t *testing.T) { controllersGoOn(t, p, c) })
	t.Run("garbage of a CRD made again is collected", func(t *testing.T) {
		collectsSoon(t, c, "default", func() schema.GroupVersionResource {
			for range 2 {
				p.reset()
				makeCRD(t, c, customResource(0))
			}
			return customResource(0)
		})
		p.reset()
	})
	t.Run("nothing to do", func(t *testing.T) {
		wantSame(t, before, inventory(t, c))
		var last protocol.ResetDone
		defer func() { t.Logf("%+v", last) }()
		eventually(t, "nothing to reset", func(context.Context) (bool, error) { // but late Events of nodes
			last = p.reset()
			return last.Removed == 0 && last.Restored == 0, nil
		})
	})
	wantSame(t, before, inventory(t, c))
	if refusal := p.ask("reset", protocol.Reset{Logical: "absent"}, nil); !strings.Contains(refusal, "absent") {
		t.Errorf("reset of an unknown logical cluster: %q", refusal)
	}
}

func everythingGoes(t *testing.T, p *program, c clients, before map[string]string) {
	mixed().fill(t, c)
	filled := inventory(t, c)
	done := p.reset()
	t.Logf("%+v", done)
	if done.Removed < 200 {
		t.Errorf("%d objects were removed", done.Removed)
	}
	after := inventory(t, c)
	wantSame(t, before, after)
	for name, uid := range after {
		if isEvent(name) && uid == filled[name] && uid != before[name] {
			t.Errorf("is still there: %s", name)
		}
	}
}

func everythingIsBack(t *testing.T, p *program, c clients, before map[string]string) {
	ctx := t.Context()
	nodes, err := c.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, node := range nodes.Items {
		create(t, "lost node", func(ctx context.Context) error {
			return c.CoreV1().Nodes().Delete(ctx, node.Name, metav1.DeleteOptions{})
		})
	}
	edited, err := c.CoreV1().ConfigMaps("kube-system").Get(ctx, authentication, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	content := fmt.Sprint(edited.Data)
	edited.Data = map[string]string{"a": "b"}
	if _, err := c.CoreV1().ConfigMaps("kube-system").Update(ctx, edited, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	create(t, "lost service account", func(ctx context.Context) error {
		return c.CoreV1().ServiceAccounts("default").Delete(ctx, "default", metav1.DeleteOptions{})
	})
	create(t, "lost role", func(ctx context.Context) error {
		return c.RbacV1().ClusterRoles().Delete(ctx, "admin", metav1.DeleteOptions{})
	})
	done := p.reset()
	t.Logf("%+v", done)
	if done.Restored < 4 {
		t.Errorf("%d objects were restored", done.Restored)
	}
	wantSame(t, before, inventory(t, c))
	edited, err = c.CoreV1().ConfigMaps("kube-system").Get(ctx, authentication, metav1.GetOptions{})
	if err != nil || fmt.Sprint(edited.Data) != content {
		t.Errorf("the edited ConfigMap: %v, %v", edited, err)
	}
}

func rulesAreGone(t *testing.T, p *program, c clients) {
	makeRules(t, c)
	config := rest.CopyConfig(c.config)
	config.Impersonate.UserName = "jane"
	jane := kubernetes.NewForConfigOrDie(config)
	eventually(t, "jane may list Secrets", func(ctx context.Context) (bool, error) {
		_, err := jane.CoreV1().Secrets("").List(ctx, metav1.ListOptions{})
		return err == nil, nil
	})
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{GenerateName: "any-"}}
	eventually(t, "the webhook refuses", func(ctx context.Context) (bool, error) {
		_, err := c.CoreV1().Secrets("default").Create(ctx, secret, metav1.CreateOptions{})
		return err != nil, nil
	})
	p.reset()
	if _, err := jane.CoreV1().Secrets("").List(t.Context(), metav1.ListOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("jane lists Secrets: %v", err)
	}
	if _, err := c.CoreV1().Secrets("default").Create(t.Context(), secret, metav1.CreateOptions{}); err != nil {
		t.Errorf("the webhook is still called: %v", err)
	}
	p.reset()
}

// deletedAtOnce has a program delete, as soon as it sees them, an object that a reset brings back and the CRD of
// another one: the reset brings them back again, and waits for nobody to learn what is not so any more.
func deletedAtOnce(t *testing.T, p *program, c clients) {
	maps, crds := c.CoreV1().ConfigMaps("default"), c.extensions.ApiextensionsV1().CustomResourceDefinitions()
	disliked := customResource(100)
	makeCRD(t, c, disliked)
	create(t, "ConfigMap", func(ctx context.Context) error {
		_, err := maps.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "disliked"}}, metav1.CreateOptions{})
		return err
	})
	nodeSettles(t, c)
	p.keep("")
	crd := disliked.GroupResource().String()
	remove := func() {
		for _, err := range []error{maps.Delete(t.Context(), "disliked", metav1.DeleteOptions{}), crds.Delete(t.Context(), crd, metav1.DeleteOptions{})} {
			if err != nil && !apierrors.IsNotFound(err) {
				t.Error(err)
			}
		}
	}
	remove()
	seen, err := maps.Watch(t.Context(), metav1.ListOptions{FieldSelector: "metadata.name=disliked"})
	if err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	group.Go(func() {
		for deletions := 0; deletions < 3; {
			if e, ok := <-seen.ResultChan(); !ok {
				return
			} else if e.Type == watch.Added {
				remove()
				deletions++
			}
		}
	})
	done := p.reset()
	t.Logf("%+v", done)
	seen.Stop()
	group.Wait()
	next := p.reset()
	usual := p.reset() // which has nothing to do
	if bar := beside(5*time.Second, took(usual)); took(done) > bar || took(next) > bar {
		t.Errorf("the reset took %s, the next one %s, both longer than %s", took(done), took(next), bar)
	}
	if _, err := maps.Get(t.Context(), "disliked", metav1.GetOptions{}); err != nil {
		t.Error(err)
	}
	remove()
	eventually(t, "the CRD is gone", func(ctx context.Context) (bool, error) {
		_, err := crds.Get(ctx, crd, metav1.GetOptions{})
		return apierrors.IsNotFound(err), nil
	})
	nodeSettles(t, c)
	p.keep("")
}

// namesAreFree makes the same things again at once, with addresses and ports of their choice.
func namesAreFree(t *testing.T, p *program, c clients) {
	for range 3 {
		mixed().fill(t, c)
		p.reset()
	}
}

// controllersGoOn expects of a fresh cluster what a fresh cluster does.
func controllersGoOn(t *testing.T, p *program, c clients) {
	for _, d := range []string{"web-0", "web-1"} {
		create(t, "Deployment", func(ctx context.Context) error {
			_, err := c.AppsV1().Deployments("default").Create(ctx, deployment(d), metav1.CreateOptions{})
			return err
		})
	}
	p.reset()
	deploymentWorks(t, c, "web-0")
	sets, err := c.AppsV1().ReplicaSets("").List(t.Context(), metav1.ListOptions{})
	if err != nil || len(sets.Items) != 1 {
		t.Errorf("ReplicaSets: %+v, %v", sets, err)
	}
	p.reset()
}

func deploymentWorks(t *testing.T, c clients, name string) {
	t.Helper()
	create(t, "Deployment", func(ctx context.Context) error {
		_, err := c.AppsV1().Deployments("default").Create(ctx, deployment(name), metav1.CreateOptions{})
		return err
	})
	eventually(t, "the Deployment is available", func(ctx context.Context) (bool, error) {
		d, err := c.AppsV1().Deployments("default").Get(ctx, name, metav1.GetOptions{})
		return err == nil && d.Status.AvailableReplicas == 2, err
	})
}

// testResetInFlight resets again and again while controllers, if there are any, are at work on random content.
func testResetInFlight(t *testing.T, p *program, c clients) {
	rounds := 15
	if n, err := strconv.Atoi(os.Getenv("SLIPWAY_TEST_RESETS")); err == nil {
		rounds = n
	}
	before := fresh(t, p, c)
	for i := range rounds {
		randomContent().fill(t, c)
		done := p.reset()
		wantSame(t, before, inventory(t, c))
		if t.Failed() {
			t.Fatalf("reset %d: %+v", i, done)
		}
	}
}

func randomContent() content {
	return content{rand.IntN(4), rand.IntN(30), rand.IntN(10), rand.IntN(10), rand.IntN(2) + 1, rand.IntN(20)}
}

// testResetIsFast has a bar that busy machines can meet in one of five rounds; `make bench` has the real one.
func testResetIsFast(t *testing.T, p *program, c clients) {
	const bar = 5 * time.Second
	var all []time.Duration
	for range 5 {
		mixed().fill(t, c)
		done := p.reset()
		t.Logf("%+v", done)
		all = append(all, took(done))
	}
	if slices.Min(all) > bar {
		t.Errorf("resets took %v", all)
	}
}

func took(r protocol.ResetDone) time.Duration {
	return time.Duration(r.TookMs * float64(time.Millisecond))
}
