package test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"github.com/slipway-dev/slipway/cluster/network"
)

// webhooks show that the API server reaches programs of this machine, by all the ways there are.
var webhooks = map[string]func(*testing.T, clients, string){
	"by URL":                         webhookByURL,
	"by Service":                     webhookByService,
	"by Service of external name":    webhookByExternalName,
	"by Service beside its pods":     webhookBesidePods,
	"of a simulated pod":             webhookOfSimulatedPod,
	"of a pod that waits":            webhookOfWaitingPod,
	"of a Service without endpoints": webhookWithoutEndpoints,
	"that does not listen":           webhookThatDoesNotListen,
	"under another name":             webhookUnderAnotherName,
	"conversion by URL":              conversionByURL,
	"conversion by Service":          conversionByService,
	"aggregated API":                 aggregatedAPI,
}

func webhookByURL(t *testing.T, c clients, ns string) {
	s := serveTLS(t, "localhost", admission)
	admits(t, c, ns, s.clientConfig(""))
}

// webhookByService shows that a Service of port 443 leads to whichever port the program listens on.
func webhookByService(t *testing.T, c clients, ns string) {
	s := serveTLS(t, "hook."+ns+".svc", admission)
	makeHookService(t, c, ns, nil)
	endpointsOfHost(t, c, ns, s.port)
	admits(t, c, ns, s.clientConfig(ns))
}

func webhookByExternalName(t *testing.T, c clients, ns string) {
	s := serveTLS(t, "hook."+ns+".svc", admission)
	service := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: "hook"},
		Spec:       corev1.ServiceSpec{Type: corev1.ServiceTypeExternalName, ExternalName: "localhost"},
	}
	if _, err := c.CoreV1().Services(ns).Create(t.Context(), service, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	config := s.clientConfig(ns)
	config.Service.Port = ptr.To(s.port)
	admits(t, c, ns, config)
}

// webhookBesidePods gives a Service simulated endpoints and a real one, as a user has who deploys an operator and runs
// it as well.
func webhookBesidePods(t *testing.T, c clients, ns string) {
	s := serveTLS(t, "hook."+ns+".svc", admission)
	makeHookService(t, c, ns, map[string]string{"app": "test"})
	makeEndpointPod(t, c, ns)
	endpointsOfHost(t, c, ns, s.port)
	admits(t, c, ns, s.clientConfig(ns))
}

func webhookOfSimulatedPod(t *testing.T, c clients, ns string) {
	s := serveTLS(t, "hook."+ns+".svc", admission)
	makeHookService(t, c, ns, map[string]string{"app": "test"})
	makeEndpointPod(t, c, ns)
	register(t, c, ns, s.clientConfig(ns))
	fails(t, c, ns, "Service "+ns+"/hook leads to pod server", "simulated", network.Host.String())
}

// webhookOfWaitingPod: the pod waits for its image, and the refusal says so.
func webhookOfWaitingPod(t *testing.T, c clients, ns string) {
	s := serveTLS(t, "hook."+ns+".svc", admission)
	makeHookService(t, c, ns, map[string]string{"app": "test"})
	register(t, c, ns, s.clientConfig(ns))
	fails(t, c, ns, "Service "+ns+"/hook has no ready endpoints", "no pod in the namespace has the labels of its selector, app=test")
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "server", Labels: map[string]string{"app": "test"}, Annotations: map[string]string{"slipway.dev/image-pull": "fail"}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "server", Image: "example.com/server"}}},
	}
	if _, err := c.CoreV1().Pods(ns).Create(t.Context(), pod, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the pod has tried to pull its image", func(ctx context.Context) (bool, error) {
		p, err := c.CoreV1().Pods(ns).Get(ctx, "server", metav1.GetOptions{})
		if err != nil || len(p.Status.ContainerStatuses) == 0 || p.Status.ContainerStatuses[0].State.Waiting == nil {
			return false, err
		}
		return strings.Contains(p.Status.ContainerStatuses[0].State.Waiting.Reason, "Image"), nil
	})
	fails(t, c, ns, "its pod server waits: ", "Image", network.Host.String())
}

func webhookWithoutEndpoints(t *testing.T, c clients, ns string) {
	s := serveTLS(t, "hook."+ns+".svc", admission)
	makeHookService(t, c, ns, nil)
	register(t, c, ns, s.clientConfig(ns))
	fails(t, c, ns, "Service "+ns+"/hook has no ready endpoints", network.Host.String())
}

func webhookThatDoesNotListen(t *testing.T, c clients, ns string) {
	s := serveTLS(t, "hook."+ns+".svc", admission)
	s.server.Close()
	makeHookService(t, c, ns, nil)
	endpointsOfHost(t, c, ns, s.port)
	register(t, c, ns, s.clientConfig(ns))
	fails(t, c, ns, "Service "+ns+"/hook", "does the program run", "connection refused")
}

func webhookUnderAnotherName(t *testing.T, c clients, ns string) {
	s := serveTLS(t, "other.example.com", admission)
	makeHookService(t, c, ns, nil)
	endpointsOfHost(t, c, ns, s.port)
	register(t, c, ns, s.clientConfig(ns))
	fails(t, c, ns, "x509", "hook."+ns+".svc")
}

// admits shows that a mutating and a validating webhook have their say.
func admits(t *testing.T, c clients, ns string, config admissionregistrationv1.WebhookClientConfig) {
	t.Helper()
	register(t, c, ns, config)
	eventually(t, "objects are mutated", func(ctx context.Context) (bool, error) {
		made, err := c.CoreV1().ConfigMaps(ns).Create(ctx, labelled(nil), metav1.CreateOptions{})
		return err == nil && made.Labels["mutated"] == "yes", nil
	})
	eventually(t, "objects are refused", func(ctx context.Context) (bool, error) {
		_, err := c.CoreV1().ConfigMaps(ns).Create(ctx, labelled(map[string]string{"deny": "yes"}), metav1.CreateOptions{})
		return apierrors.IsForbidden(err) && strings.Contains(err.Error(), "denied by the test"), nil
	})
}

// fails shows that a request fails at once, and says why.
func fails(t *testing.T, c clients, ns string, words ...string) {
	t.Helper()
	var last error
	eventually(t, "the webhook's trouble is told: "+strings.Join(words, ", "), func(ctx context.Context) (bool, error) {
		begin := time.Now()
		_, last = c.CoreV1().ConfigMaps(ns).Create(ctx, labelled(nil), metav1.CreateOptions{})
		took := time.Since(begin)
		if last == nil {
			return false, nil
		}
		if _, err := c.CoreV1().ConfigMaps(ns).List(ctx, metav1.ListOptions{}); err != nil { // which no webhook sees
			return false, err
		}
		if bar := beside(15*time.Second, time.Since(begin)-took); took > bar {
			t.Errorf("the failure took %s, longer than %s", took, bar)
		}
		for _, w := range words {
			if !strings.Contains(last.Error(), w) {
				t.Logf("not yet: %v", last)
				return false, nil
			}
		}
		return true, nil
	})
	t.Log(last)
}

func labelled(labels map[string]string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "c-", Labels: labels}}
}

// admission is a webhook that labels what comes to /mutate and refuses what is labelled so at /validate.
func admission(w http.ResponseWriter, r *http.Request) {
	var review admissionv1.AdmissionReview
	if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	var object metav1.PartialObjectMetadata
	if err := json.Unmarshal(review.Request.Object.Raw, &object); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	answer := &admissionv1.AdmissionResponse{UID: review.Request.UID, Allowed: true}
	switch {
	case r.URL.Path == "/mutate" && object.Labels == nil:
		answer.Patch = []byte(`[{"op": "add", "path": "/metadata/labels", "value": {"mutated": "yes"}}]`)
		answer.PatchType = ptr.To(admissionv1.PatchTypeJSONPatch)
	case r.URL.Path == "/validate" && object.Labels["deny"] != "":
		answer.Allowed, answer.Result = false, &metav1.Status{Message: "denied by the test", Code: http.StatusForbidden}
	}
	review.Request, review.Response = nil, answer
	_ = json.NewEncoder(w).Encode(review)
}

// register makes a mutating and a validating webhook for the namespace's ConfigMaps.
func register(t *testing.T, c clients, ns string, config admissionregistrationv1.WebhookClientConfig) {
	t.Helper()
	at := func(path string) admissionregistrationv1.WebhookClientConfig {
		config := *config.DeepCopy()
		if config.URL != nil {
			config.URL = ptr.To(*config.URL + path)
		} else {
			config.Service.Path = ptr.To(path)
		}
		return config
	}
	only := &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: ns}}
	rules := []admissionregistrationv1.RuleWithOperations{{
		Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create},
		Rule:       admissionregistrationv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"configmaps"}},
	}}
	none := ptr.To(admissionregistrationv1.SideEffectClassNone)
	validating := &admissionregistrationv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: ns},
		Webhooks: []admissionregistrationv1.ValidatingWebhook{{
			Name: "validate.example.com", ClientConfig: at("/validate"), Rules: rules, NamespaceSelector: only, SideEffects: none, AdmissionReviewVersions: []string{"v1"},
			TimeoutSeconds: ptr.To(int32(30)), // longer than a failure may take
		}},
	}
	mutating := &admissionregistrationv1.MutatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: ns},
		Webhooks: []admissionregistrationv1.MutatingWebhook{{
			Name: "mutate.example.com", ClientConfig: at("/mutate"), Rules: rules, NamespaceSelector: only, SideEffects: none, AdmissionReviewVersions: []string{"v1"},
			TimeoutSeconds: ptr.To(int32(30)), // longer than a failure may take
		}},
	}
	if _, err := c.AdmissionregistrationV1().ValidatingWebhookConfigurations().Create(t.Context(), validating, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.AdmissionregistrationV1().MutatingWebhookConfigurations().Create(t.Context(), mutating, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

func makeHookService(t *testing.T, c clients, ns string, selector map[string]string) {
	t.Helper()
	service := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: "hook"},
		Spec:       corev1.ServiceSpec{Selector: selector, Ports: []corev1.ServicePort{{Name: "https", Port: 443, TargetPort: intstr.FromInt32(9443)}}},
	}
	if _, err := c.CoreV1().Services(ns).Create(t.Context(), service, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// endpointsOfHost makes the Service's only hand-made endpoint: this machine's loopback.
func endpointsOfHost(t *testing.T, c clients, ns string, port int32) {
	t.Helper()
	slice := &discoveryv1.EndpointSlice{
		ObjectMeta:  metav1.ObjectMeta{Name: "hook-host", Labels: map[string]string{discoveryv1.LabelServiceName: "hook"}},
		AddressType: discoveryv1.AddressTypeIPv4,
		Endpoints:   []discoveryv1.Endpoint{{Addresses: []string{network.Host.String()}}},
		Ports:       []discoveryv1.EndpointPort{{Name: ptr.To("https"), Port: ptr.To(port)}},
	}
	if _, err := c.DiscoveryV1().EndpointSlices(ns).Create(t.Context(), slice, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// makeEndpointPod makes a pod that the Service selects and waits until it is one of its endpoints.
func makeEndpointPod(t *testing.T, c clients, ns string) {
	t.Helper()
	template := podTemplate(corev1.RestartPolicyAlways)
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "server", Labels: template.Labels}, Spec: template.Spec}
	if _, err := c.CoreV1().Pods(ns).Create(t.Context(), pod, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the pod is an endpoint", func(ctx context.Context) (bool, error) {
		slices, err := c.DiscoveryV1().EndpointSlices(ns).List(ctx, metav1.ListOptions{LabelSelector: discoveryv1.LabelServiceName + "=hook"})
		if err != nil {
			return false, err
		}
		for _, s := range slices.Items {
			if len(s.Endpoints) > 0 && s.Endpoints[0].TargetRef != nil && ptr.Deref(s.Endpoints[0].Conditions.Ready, false) {
				return true, nil
			}
		}
		return false, nil
	})
}

func conversionByURL(t *testing.T, c clients, ns string) {
	s := serveTLS(t, "localhost", convert)
	config := s.clientConfig("")
	converts(t, c, ns, &apiextensionsv1.WebhookClientConfig{URL: config.URL, CABundle: config.CABundle})
}

func conversionByService(t *testing.T, c clients, ns string) {
	s := serveTLS(t, "hook."+ns+".svc", convert)
	makeHookService(t, c, ns, nil)
	endpointsOfHost(t, c, ns, s.port)
	converts(t, c, ns, &apiextensionsv1.WebhookClientConfig{
		Service: &apiextensionsv1.ServiceReference{Namespace: ns, Name: "hook"}, CABundle: s.ca,
	})
}

// converts shows that what is written as v1 is read as v2.
func converts(t *testing.T, c clients, ns string, config *apiextensionsv1.WebhookClientConfig) {
	t.Helper()
	group := ns + ".example.com"
	version := func(name string, storage bool) apiextensionsv1.CustomResourceDefinitionVersion {
		return apiextensionsv1.CustomResourceDefinitionVersion{
			Name: name, Served: true, Storage: storage,
			Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{
				Type: "object", XPreserveUnknownFields: ptr.To(true),
			}},
		}
	}
	crd := &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "gadgets." + group},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: group, Scope: apiextensionsv1.NamespaceScoped,
			Names:    apiextensionsv1.CustomResourceDefinitionNames{Plural: "gadgets", Singular: "gadget", Kind: "Gadget", ListKind: "GadgetList"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{version("v1", true), version("v2", false)},
			Conversion: &apiextensionsv1.CustomResourceConversion{
				Strategy: apiextensionsv1.WebhookConverter,
				Webhook:  &apiextensionsv1.WebhookConversion{ClientConfig: config, ConversionReviewVersions: []string{"v1"}},
			},
		},
	}
	if _, err := c.extensions.ApiextensionsV1().CustomResourceDefinitions().Create(t.Context(), crd, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	gadget := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": group + "/v1", "kind": "Gadget", "metadata": map[string]any{"name": "g"},
	}}
	v1 := schema.GroupVersionResource{Group: group, Version: "v1", Resource: "gadgets"}
	eventually(t, "the object is made", func(ctx context.Context) (bool, error) {
		_, err := c.dynamic.Resource(v1).Namespace(ns).Create(ctx, gadget, metav1.CreateOptions{})
		return err == nil || apierrors.IsAlreadyExists(err), ignoreNotFound(err)
	})
	eventually(t, "the object is converted", func(ctx context.Context) (bool, error) {
		got, err := c.dynamic.Resource(v1.GroupResource().WithVersion("v2")).Namespace(ns).Get(ctx, "g", metav1.GetOptions{})
		return err == nil && got.Object["convertedTo"] == group+"/v2", nil
	})
}

// convert is a conversion webhook that notes what it did.
func convert(w http.ResponseWriter, r *http.Request) {
	var review apiextensionsv1.ConversionReview
	if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	answer := &apiextensionsv1.ConversionResponse{UID: review.Request.UID, Result: metav1.Status{Status: metav1.StatusSuccess}}
	for _, o := range review.Request.Objects {
		var object map[string]any
		if err := json.Unmarshal(o.Raw, &object); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		object["apiVersion"], object["convertedTo"] = review.Request.DesiredAPIVersion, review.Request.DesiredAPIVersion
		raw, err := json.Marshal(object)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		answer.ConvertedObjects = append(answer.ConvertedObjects, runtime.RawExtension{Raw: raw})
	}
	review.Request, review.Response = nil, answer
	_ = json.NewEncoder(w).Encode(review)
}

// aggregatedAPI shows that an API server of this machine is reached by way of its Service.
func aggregatedAPI(t *testing.T, c clients, ns string) {
	group := ns + ".example.org"
	s := serveTLS(t, "hook."+ns+".svc", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Path == "/openapi/v2" {
			_, _ = fmt.Fprintf(w, `{"swagger": "2.0", "info": {"title": "things", "version": "1"}, "paths": {"/apis/%s/v1/things": {}}}`, group)
			return
		}
		_ = json.NewEncoder(w).Encode(metav1.APIResourceList{
			TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "APIResourceList"}, GroupVersion: group + "/v1",
			APIResources: []metav1.APIResource{{Name: "things", Kind: "Thing", Verbs: []string{"get"}}},
		})
	})
	makeHookService(t, c, ns, nil)
	endpointsOfHost(t, c, ns, s.port)
	services := c.dynamic.Resource(schema.GroupVersionResource{Group: "apiregistration.k8s.io", Version: "v1", Resource: "apiservices"})
	object := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService", "metadata": map[string]any{"name": "v1." + group},
		"spec": map[string]any{
			"group": group, "version": "v1", "groupPriorityMinimum": int64(1000), "versionPriority": int64(10),
			"caBundle": encoded(s.ca), "service": map[string]any{"namespace": ns, "name": "hook"},
		},
	}}
	if _, err := services.Create(t.Context(), object, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	// It would keep namespaces from going if it stayed behind without its server.
	t.Cleanup(func() { _ = services.Delete(context.Background(), "v1."+group, metav1.DeleteOptions{}) })
	eventually(t, "the aggregated API answers", func(ctx context.Context) (bool, error) {
		answer, err := c.CoreV1().RESTClient().Get().AbsPath("/apis/" + group + "/v1").DoRaw(ctx)
		return err == nil && strings.Contains(string(answer), `"things"`), nil
	})
	eventually(t, "its document is part of the server's", func(ctx context.Context) (bool, error) {
		document, err := readDocument(ctx, c)
		return document.Paths["/apis/"+group+"/v1/things"] != nil, err
	})
}
