package test

import (
	"context"
	"fmt"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
)

var testLabels = map[string]string{"app": "test"}

func makeDeployment(t *testing.T, c clients, ns string, replicas int32) {
	t.Helper()
	must[*appsv1.Deployment](t)(c.AppsV1().Deployments(ns).Create(t.Context(), &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas,
			Selector: &metav1.LabelSelector{MatchLabels: testLabels},
			Template: podTemplate(corev1.RestartPolicyAlways),
		},
	}, metav1.CreateOptions{}))
}

func replicationControllerKeepsPods(t *testing.T, c clients, ns string) {
	template := podTemplate(corev1.RestartPolicyAlways)
	must[*corev1.ReplicationController](t)(c.CoreV1().ReplicationControllers(ns).Create(t.Context(), &corev1.ReplicationController{
		ObjectMeta: metav1.ObjectMeta{Name: "old"},
		Spec:       corev1.ReplicationControllerSpec{Replicas: ptr.To[int32](2), Selector: testLabels, Template: &template},
	}, metav1.CreateOptions{}))
	ready := func(ctx context.Context) (bool, error) {
		rc, err := c.CoreV1().ReplicationControllers(ns).Get(ctx, "old", metav1.GetOptions{})
		return err == nil && rc.Status.ReadyReplicas == 2, err
	}
	eventually(t, "two pods are ready", ready)
	if err := c.CoreV1().Pods(ns).DeleteCollection(t.Context(), metav1.DeleteOptions{}, metav1.ListOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "two new pods are ready", ready)
}

func daemonSetOnEachNode(t *testing.T, c clients, ns string) {
	template := podTemplate(corev1.RestartPolicyAlways)
	template.Spec.NodeSelector = map[string]string{"daemons": "yes"}
	template.Spec.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}}
	must[*appsv1.DaemonSet](t)(c.AppsV1().DaemonSets(ns).Create(t.Context(), &appsv1.DaemonSet{
		ObjectMeta: metav1.ObjectMeta{Name: "agent"},
		Spec:       appsv1.DaemonSetSpec{Selector: &metav1.LabelSelector{MatchLabels: testLabels}, Template: template},
	}, metav1.CreateOptions{}))
	eventually(t, "a pod is available on both nodes", func(ctx context.Context) (bool, error) {
		d, err := c.AppsV1().DaemonSets(ns).Get(ctx, "agent", metav1.GetOptions{})
		return err == nil && d.Status.NumberAvailable == 2 && d.Status.DesiredNumberScheduled == 2, err
	})
}

func statefulSetHasVolumes(t *testing.T, c clients, ns string) {
	must[*appsv1.StatefulSet](t)(c.AppsV1().StatefulSets(ns).Create(t.Context(), &appsv1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{Name: "db"},
		Spec: appsv1.StatefulSetSpec{
			Replicas:             ptr.To[int32](2),
			Selector:             &metav1.LabelSelector{MatchLabels: testLabels},
			Template:             podTemplate(corev1.RestartPolicyAlways),
			VolumeClaimTemplates: []corev1.PersistentVolumeClaim{*newClaim("data", nil)},
		},
	}, metav1.CreateOptions{}))
	eventually(t, "both pods are ready", func(ctx context.Context) (bool, error) {
		s, err := c.AppsV1().StatefulSets(ns).Get(ctx, "db", metav1.GetOptions{})
		return err == nil && s.Status.ReadyReplicas == 2, err
	})
	for _, name := range []string{"data-db-0", "data-db-1"} {
		bound(t, c, ns, name)
	}
}

// cronJobRuns does not wait for the next full minute: it moves the last run into the past.
func cronJobRuns(t *testing.T, c clients, ns string) {
	jobs := c.BatchV1().CronJobs(ns)
	must[*batchv1.CronJob](t)(jobs.Create(t.Context(), &batchv1.CronJob{
		ObjectMeta: metav1.ObjectMeta{Name: "cron"},
		Spec: batchv1.CronJobSpec{
			Schedule:    "* * * * *",
			JobTemplate: batchv1.JobTemplateSpec{Spec: batchv1.JobSpec{Template: podTemplate(corev1.RestartPolicyNever)}},
		},
	}, metav1.CreateOptions{}))
	past := fmt.Appendf(nil, `{"status":{"lastScheduleTime":%q}}`, time.Now().Add(-time.Minute).UTC().Format(time.RFC3339))
	must[*batchv1.CronJob](t)(jobs.Patch(t.Context(), "cron", types.MergePatchType, past, metav1.PatchOptions{}, "status"))
	eventually(t, "a Job has succeeded", func(ctx context.Context) (bool, error) {
		cron, err := jobs.Get(ctx, "cron", metav1.GetOptions{})
		return err == nil && cron.Status.LastSuccessfulTime != nil, err
	})
}

func finishedJobGoes(t *testing.T, c clients, ns string) {
	must[*batchv1.Job](t)(c.BatchV1().Jobs(ns).Create(t.Context(), &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: "job"},
		Spec:       batchv1.JobSpec{TTLSecondsAfterFinished: ptr.To[int32](0), Template: podTemplate(corev1.RestartPolicyNever)},
	}, metav1.CreateOptions{}))
	eventually(t, "the Job is gone", func(ctx context.Context) (bool, error) {
		_, err := c.BatchV1().Jobs(ns).Get(ctx, "job", metav1.GetOptions{})
		return gone(err)
	})
}

func budgetCountsPods(t *testing.T, c clients, ns string) {
	makeDeployment(t, c, ns, 2)
	must[*policyv1.PodDisruptionBudget](t)(c.PolicyV1().PodDisruptionBudgets(ns).Create(t.Context(), &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Name: "budget"},
		Spec: policyv1.PodDisruptionBudgetSpec{
			MinAvailable: ptr.To(intstr.FromInt32(2)), Selector: &metav1.LabelSelector{MatchLabels: testLabels},
		},
	}, metav1.CreateOptions{}))
	eventually(t, "the budget knows two healthy pods", func(ctx context.Context) (bool, error) {
		b, err := c.PolicyV1().PodDisruptionBudgets(ns).Get(ctx, "budget", metav1.GetOptions{})
		return err == nil && b.Status.CurrentHealthy == 2 && b.Status.ExpectedPods == 2, err
	})
	pods := must[*corev1.PodList](t)(c.CoreV1().Pods(ns).List(t.Context(), metav1.ListOptions{}))
	eviction := &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: pods.Items[0].Name}}
	if err := c.PolicyV1().Evictions(ns).Evict(t.Context(), eviction); !apierrors.IsTooManyRequests(err) {
		t.Errorf("an eviction beyond the budget: %v", err)
	}
}

func quotaCounts(t *testing.T, c clients, ns string) {
	must[*corev1.ResourceQuota](t)(c.CoreV1().ResourceQuotas(ns).Create(t.Context(), &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Name: "quota"},
		Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{"count/secrets": resource.MustParse("1")}},
	}, metav1.CreateOptions{}))
	used := func(want int64) func(context.Context) (bool, error) {
		return func(ctx context.Context) (bool, error) {
			q, err := c.CoreV1().ResourceQuotas(ns).Get(ctx, "quota", metav1.GetOptions{})
			if err != nil {
				return false, err
			}
			count, counted := q.Status.Used["count/secrets"]
			return counted && count.Value() == want, nil
		}
	}
	eventually(t, "the quota is counted", used(0))
	secrets := c.CoreV1().Secrets(ns)
	eventually(t, "Secrets beyond the quota are refused", func(ctx context.Context) (bool, error) {
		// Admission may learn of the quota later than this test.
		_, err := secrets.Create(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{GenerateName: "counted-"}}, metav1.CreateOptions{})
		if apierrors.IsForbidden(err) {
			return true, nil
		}
		return false, err
	})
	if err := secrets.DeleteCollection(t.Context(), metav1.DeleteOptions{}, metav1.ListOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "what is deleted is given back", used(0))
}

func aggregatedRole(t *testing.T, c clients, ns string) {
	roles := c.RbacV1().ClusterRoles()
	rule := rbacv1.PolicyRule{APIGroups: []string{ns}, Resources: []string{"things"}, Verbs: []string{"get"}}
	label := map[string]string{"aggregate-to": ns}
	must[*rbacv1.ClusterRole](t)(roles.Create(t.Context(), &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{Name: ns + "-part", Labels: label}, Rules: []rbacv1.PolicyRule{rule},
	}, metav1.CreateOptions{}))
	must[*rbacv1.ClusterRole](t)(roles.Create(t.Context(), &rbacv1.ClusterRole{
		ObjectMeta:      metav1.ObjectMeta{Name: ns},
		AggregationRule: &rbacv1.AggregationRule{ClusterRoleSelectors: []metav1.LabelSelector{{MatchLabels: label}}},
	}, metav1.CreateOptions{}))
	eventually(t, "the role has the rule", func(ctx context.Context) (bool, error) {
		role, err := roles.Get(ctx, ns, metav1.GetOptions{})
		return err == nil && len(role.Rules) == 1 && role.Rules[0].APIGroups[0] == ns, err
	})
}

// crdGoesWithLastObject shows what an operator's uninstallation waits for: its objects have
// a finalizer, which goes a moment after the CRD was deleted.
func crdGoesWithLastObject(t *testing.T, c clients, ns string) {
	widgets := schema.GroupVersionResource{Group: ns + ".example.com", Version: "v1", Resource: "widgets"}
	makeCRD(t, c, widgets)
	client := c.dynamic.Resource(widgets).Namespace(ns)
	must[*unstructured.Unstructured](t)(client.Create(t.Context(), &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": widgets.GroupVersion().String(), "kind": "Widget",
		"metadata": map[string]any{"name": "last", "finalizers": []any{"example.com/finalizer"}},
	}}, metav1.CreateOptions{}))
	crds, name := c.extensions.ApiextensionsV1().CustomResourceDefinitions(), widgets.Resource+"."+widgets.Group
	if err := crds.Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the object is deleted", func(ctx context.Context) (bool, error) {
		widget, err := client.Get(ctx, "last", metav1.GetOptions{})
		return err == nil && widget.GetDeletionTimestamp() != nil, err
	})
	if _, err := crds.Get(t.Context(), name, metav1.GetOptions{}); err != nil {
		t.Fatalf("the CRD while an object is left: %v", err)
	}
	begin := time.Now()
	must[*unstructured.Unstructured](t)(client.Patch(t.Context(), "last", types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{}))
	eventually(t, "the CRD is gone", func(ctx context.Context) (bool, error) {
		_, err := crds.Get(ctx, name, metav1.GetOptions{})
		return gone(err)
	})
	t.Logf("the CRD was gone %v after its last object", time.Since(begin))
}

func autoscalerKeepsMinimum(t *testing.T, c clients, ns string) {
	makeDeployment(t, c, ns, 1)
	scalers := c.AutoscalingV2().HorizontalPodAutoscalers(ns)
	must[*autoscalingv2.HorizontalPodAutoscaler](t)(scalers.Create(t.Context(), &autoscalingv2.HorizontalPodAutoscaler{
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
			ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "web"},
			MinReplicas:    ptr.To[int32](2), MaxReplicas: 4,
			Metrics: []autoscalingv2.MetricSpec{{Type: autoscalingv2.ResourceMetricSourceType, Resource: &autoscalingv2.ResourceMetricSource{
				Name:   corev1.ResourceCPU,
				Target: autoscalingv2.MetricTarget{Type: autoscalingv2.UtilizationMetricType, AverageUtilization: ptr.To[int32](50)},
			}}},
		},
	}, metav1.CreateOptions{}))
	eventually(t, "the Deployment has the minimum", func(ctx context.Context) (bool, error) {
		d, err := c.AppsV1().Deployments(ns).Get(ctx, "web", metav1.GetOptions{})
		return err == nil && d.Status.ReadyReplicas == 2, err
	})
	eventually(t, "the autoscaler reports that it cannot tell the share of a request, which the pods lack", func(ctx context.Context) (bool, error) {
		h, err := scalers.Get(ctx, "web", metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		for _, condition := range h.Status.Conditions {
			if condition.Type == autoscalingv2.ScalingActive {
				return condition.Status == corev1.ConditionFalse && condition.Reason == "FailedGetResourceMetric", nil
			}
		}
		return false, nil
	})
}
