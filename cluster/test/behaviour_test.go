package test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
)

// behaviours are what the user of a cluster sees.
var behaviours = map[string]func(*testing.T, clients, string){
	"nodes as configured":                     nodesAsConfigured,
	"job completes":                           jobCompletes,
	"deployment makes pods and takes them":    deploymentMakesPods,
	"garbage of a new CRD is collected":       garbageOfNewCRD,
	"namespace goes at once with its content": namespaceGoes,
	"service gets endpoints":                  serviceGetsEndpoints,
	"anonymous requests see health only":      anonymousSeesHealth,
	"service account is bound by RBAC":        serviceAccountIsBound,
	"token secret is filled":                  tokenSecretIsFilled,
	"a NetworkPolicy draws a warning":         networkPolicyDrawsWarning,
}

func newNamespace(t *testing.T, c clients) string {
	t.Helper()
	ns, err := c.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "test-"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "service account and root CA in "+ns.Name, func(ctx context.Context) (bool, error) {
		_, err := c.CoreV1().ServiceAccounts(ns.Name).Get(ctx, "default", metav1.GetOptions{})
		if err == nil {
			_, err = c.CoreV1().ConfigMaps(ns.Name).Get(ctx, "kube-root-ca.crt", metav1.GetOptions{})
		}
		return err == nil, ignoreNotFound(err)
	})
	return ns.Name
}

func ignoreNotFound(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

func podTemplate(policy corev1.RestartPolicy) corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "test"}},
		Spec: corev1.PodSpec{
			RestartPolicy: policy,
			Containers:    []corev1.Container{{Name: "main", Image: "example.com/main"}},
		},
	}
}

func nodesAsConfigured(t *testing.T, c clients, _ string) {
	large, err := c.CoreV1().Nodes().Get(t.Context(), "large", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if large.Labels["size"] != "large" || large.Status.Capacity.Cpu().Value() != 128 {
		t.Errorf("labels %v, capacity %v", large.Labels, large.Status.Capacity)
	}
	tainted, err := c.CoreV1().Nodes().Get(t.Context(), "fast", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if want := (corev1.Taint{Key: "dedicated", Value: "fast", Effect: corev1.TaintEffectNoSchedule}); len(tainted.Spec.Taints) != 1 || tainted.Spec.Taints[0] != want {
		t.Errorf("taints %v", tainted.Spec.Taints)
	}
}

func jobCompletes(t *testing.T, c clients, ns string) {
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "job"}, Spec: batchv1.JobSpec{Template: podTemplate(corev1.RestartPolicyNever)}}
	if _, err := c.BatchV1().Jobs(ns).Create(t.Context(), job, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the Job is complete", func(ctx context.Context) (bool, error) {
		job, err := c.BatchV1().Jobs(ns).Get(ctx, "job", metav1.GetOptions{})
		return err == nil && job.Status.Succeeded == 1 && job.Status.CompletionTime != nil, err
	})
}

func deploymentMakesPods(t *testing.T, c clients, ns string) {
	deployment := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec: appsv1.DeploymentSpec{
			Replicas: ptr.To[int32](2),
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "test"}},
			Template: podTemplate(corev1.RestartPolicyAlways),
		},
	}
	if _, err := c.AppsV1().Deployments(ns).Create(t.Context(), deployment, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the Deployment is available", func(ctx context.Context) (bool, error) {
		d, err := c.AppsV1().Deployments(ns).Get(ctx, "web", metav1.GetOptions{})
		return err == nil && d.Status.AvailableReplicas == 2, err
	})
	pods, err := c.CoreV1().Pods(ns).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, pod := range pods.Items {
		if pod.Spec.NodeName != "large" {
			t.Errorf("pod %s is on %q, which has a taint", pod.Name, pod.Spec.NodeName)
		}
	}
	background := metav1.DeletePropagationBackground
	if err := c.AppsV1().Deployments(ns).Delete(t.Context(), "web", metav1.DeleteOptions{PropagationPolicy: &background}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "its pods are gone", func(ctx context.Context) (bool, error) {
		pods, err := c.CoreV1().Pods(ns).List(ctx, metav1.ListOptions{})
		return err == nil && len(pods.Items) == 0, err
	})
}

// garbageOfNewCRD shows what an operator's test relies on: the CRD was made a moment ago, and objects that it owns
// disappear with their owner.
func garbageOfNewCRD(t *testing.T, c clients, ns string) {
	i := 0
	collectsSoon(t, c, ns, func() schema.GroupVersionResource {
		i++
		resource := schema.GroupVersionResource{Group: ns + ".example.com", Version: "v1", Resource: fmt.Sprintf("widgets%d", i)}
		makeCRD(t, c, resource)
		return resource
	})
}

// collectsSoon has the garbage of a kind that make has just made collected as soon as that of one that was always
// there. Upstream's collector notices a CRD after up to 30 seconds, and so does ours where the CRD takes longer than a
// few seconds to be in the discovery documents, as it may on a busy machine. So there are three tries. They do not help
// a collector that always waits: each begins when it has just looked.
func collectsSoon(t *testing.T, c clients, ns string, make func() schema.GroupVersionResource) {
	t.Helper()
	var took, usual time.Duration
	for range 3 {
		took, usual = collectsGarbage(t, c, make(), ns)
		if took <= usual+beside(15*time.Second, usual) {
			return
		}
	}
	t.Errorf("the garbage of a new CRD waited for %s, other garbage for %s", took, usual)
}

// collectsGarbage returns after which time the garbage of a kind was collected, and that of one that was always there.
func collectsGarbage(t *testing.T, c clients, resource schema.GroupVersionResource, ns string) (took, usual time.Duration) {
	t.Helper()
	widget := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": resource.GroupVersion().String(), "kind": kind(resource), "metadata": map[string]any{"name": "owner"},
	}}
	widgets, configMaps := c.dynamic.Resource(resource).Namespace(ns), c.CoreV1().ConfigMaps(ns)
	owner, err := widgets.Create(t.Context(), widget, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	usualOwner := ownedConfigMap(t, c, ns, "usual-owner")
	ownedConfigMap(t, c, ns, "dependent", *metav1.NewControllerRef(owner, owner.GroupVersionKind()))
	ownedConfigMap(t, c, ns, "usual-dependent", *metav1.NewControllerRef(usualOwner, corev1.SchemeGroupVersion.WithKind("ConfigMap")))
	begin := time.Now()
	if err := widgets.Delete(t.Context(), "owner", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := configMaps.Delete(t.Context(), "usual-owner", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	after := map[string]time.Duration{}
	eventually(t, "both dependents are collected", func(ctx context.Context) (bool, error) {
		for _, name := range []string{"dependent", "usual-dependent"} {
			_, err := configMaps.Get(ctx, name, metav1.GetOptions{})
			if after[name] == 0 && apierrors.IsNotFound(err) {
				after[name] = time.Since(begin)
			}
			if err := ignoreNotFound(err); err != nil {
				return false, err
			}
		}
		return len(after) == 2, nil
	})
	t.Logf("collecting took %v", after)
	return after["dependent"], after["usual-dependent"]
}

func ownedConfigMap(t *testing.T, c clients, ns, name string, owners ...metav1.OwnerReference) *corev1.ConfigMap {
	t.Helper()
	made, err := c.CoreV1().ConfigMaps(ns).Create(t.Context(),
		&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, OwnerReferences: owners}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// kind is that of a resource which [makeCRD] makes.
func kind(r schema.GroupVersionResource) string {
	return strings.ToUpper(r.Resource[:1]) + strings.Replace(r.Resource[1:], "s", "", 1)
}

func newCRD(r schema.GroupVersionResource) *apiextensionsv1.CustomResourceDefinition {
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: r.Resource + "." + r.Group},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: r.Group,
			Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: r.Resource, Singular: strings.ToLower(kind(r)), Kind: kind(r), ListKind: kind(r) + "List"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: r.Version, Served: true, Storage: true,
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object"}},
			}},
		},
	}
}

func makeCRD(t *testing.T, c clients, r schema.GroupVersionResource) {
	t.Helper()
	crd := newCRD(r)
	crds := c.extensions.ApiextensionsV1().CustomResourceDefinitions()
	if _, err := crds.Create(t.Context(), crd, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the CRD is established", func(ctx context.Context) (bool, error) {
		got, err := crds.Get(ctx, crd.Name, metav1.GetOptions{})
		return err == nil && established(got), err
	})
}

func established(crd *apiextensionsv1.CustomResourceDefinition) bool {
	return slices.ContainsFunc(crd.Status.Conditions, func(c apiextensionsv1.CustomResourceDefinitionCondition) bool {
		return c.Type == apiextensionsv1.Established && c.Status == apiextensionsv1.ConditionTrue
	})
}

func namespaceGoes(t *testing.T, c clients, ns string) {
	if _, err := c.CoreV1().ConfigMaps(ns).Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "content"}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	if err := c.CoreV1().Namespaces().Delete(t.Context(), ns, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the namespace is gone", func(ctx context.Context) (bool, error) {
		_, err := c.CoreV1().Namespaces().Get(ctx, ns, metav1.GetOptions{})
		return apierrors.IsNotFound(err), ignoreNotFound(err)
	})
	t.Logf("deleting took %v", time.Since(begin))
}

func serviceGetsEndpoints(t *testing.T, c clients, ns string) {
	service := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec:       corev1.ServiceSpec{Selector: map[string]string{"app": "test"}, Ports: []corev1.ServicePort{{Port: 80}}},
	}
	made, err := c.CoreV1().Services(ns).Create(t.Context(), service, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if made.Spec.ClusterIP == "" {
		t.Error("no cluster IP")
	}
	template := podTemplate(corev1.RestartPolicyAlways)
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "web", Labels: template.Labels}, Spec: template.Spec}
	if _, err := c.CoreV1().Pods(ns).Create(t.Context(), pod, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the slice has the pod's address", func(ctx context.Context) (bool, error) {
		slices, err := c.DiscoveryV1().EndpointSlices(ns).List(ctx, metav1.ListOptions{LabelSelector: "kubernetes.io/service-name=web"})
		return err == nil && len(slices.Items) == 1 && len(slices.Items[0].Endpoints) == 1, err
	})
}

func anonymousSeesHealth(t *testing.T, c clients, _ string) {
	client, err := rest.HTTPClientFor(rest.AnonymousClientConfig(c.config))
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]int{
		"/livez": http.StatusOK, "/readyz": http.StatusOK, "/healthz": http.StatusOK,
		"/version": http.StatusUnauthorized, "/api/v1/namespaces": http.StatusUnauthorized, "/metrics": http.StatusUnauthorized,
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, c.config.Host+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		if answer.StatusCode != want {
			t.Errorf("%s: %d, want %d", path, answer.StatusCode, want)
		}
	}
}

func serviceAccountIsBound(t *testing.T, c clients, ns string) {
	config := rest.CopyConfig(c.config)
	config.Impersonate.UserName = "system:serviceaccount:" + ns + ":default"
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.CoreV1().Pods(ns).List(t.Context(), metav1.ListOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("a service account without rights lists pods: %v", err)
	}
}

func tokenSecretIsFilled(t *testing.T, c clients, ns string) {
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: "token", Annotations: map[string]string{corev1.ServiceAccountNameKey: "default"}},
		Type:       corev1.SecretTypeServiceAccountToken,
	}
	if _, err := c.CoreV1().Secrets(ns).Create(t.Context(), secret, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	var filled *corev1.Secret
	eventually(t, "the Secret holds a token", func(ctx context.Context) (bool, error) {
		got, err := c.CoreV1().Secrets(ns).Get(ctx, "token", metav1.GetOptions{})
		filled = got
		return err == nil && len(got.Data[corev1.ServiceAccountTokenKey]) > 0, err
	})
	if string(filled.Data[corev1.ServiceAccountRootCAKey]) != string(c.config.CAData) {
		t.Error("the Secret holds another authority")
	}
}
