package controller

import (
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metaapply "k8s.io/client-go/applyconfigurations/meta/v1"

	samplev1alpha1 "example.com/sample-controller/pkg/apis/samplecontroller/v1alpha1"
	sampleapply "example.com/sample-controller/pkg/generated/applyconfiguration/samplecontroller/v1alpha1"
)

// fieldManager is who owns the fields of the status.
const fieldManager = "sample-controller"

// statusOf returns the status of a Foo with a Deployment of its own.
func statusOf(foo *samplev1alpha1.Foo, deployment *appsv1.Deployment, now time.Time) samplev1alpha1.FooStatus {
	observed := deployment.Status
	ready := metav1.Condition{Type: samplev1alpha1.ConditionReady, Status: metav1.ConditionFalse, Reason: samplev1alpha1.ReasonProgressing,
		Message: fmt.Sprintf("%d of %d replicas are available", observed.AvailableReplicas, replicas(foo))}
	seen := observed.ObservedGeneration >= deployment.Generation
	if seen && observed.AvailableReplicas == replicas(foo) && observed.Replicas == replicas(foo) {
		ready.Status, ready.Reason = metav1.ConditionTrue, samplev1alpha1.ReasonAvailable
	}
	status := samplev1alpha1.FooStatus{Replicas: observed.Replicas, AvailableReplicas: observed.AvailableReplicas}
	return completed(status, foo, ready, now)
}

// refusedStatus returns the status of a Foo that names a Deployment which is not its own.
func refusedStatus(foo *samplev1alpha1.Foo, now time.Time) samplev1alpha1.FooStatus {
	ready := metav1.Condition{Type: samplev1alpha1.ConditionReady, Status: metav1.ConditionFalse, Reason: samplev1alpha1.ReasonNotOwned,
		Message: fmt.Sprintf("The Deployment %s exists and is not controlled by this Foo", foo.Spec.DeploymentName)}
	return completed(samplev1alpha1.FooStatus{}, foo, ready, now)
}

// completed adds the generation and the condition, which keeps its time as long as it does not change.
func completed(status samplev1alpha1.FooStatus, foo *samplev1alpha1.Foo, ready metav1.Condition, now time.Time) samplev1alpha1.FooStatus {
	status.ObservedGeneration, ready.ObservedGeneration = foo.Generation, foo.Generation
	ready.LastTransitionTime = metav1.NewTime(now)
	status.Conditions = foo.DeepCopy().Status.Conditions
	meta.SetStatusCondition(&status.Conditions, ready)
	return status
}

// applied returns what is sent to the API server: the status, and what says whose.
func applied(foo *samplev1alpha1.Foo, status samplev1alpha1.FooStatus) *sampleapply.FooApplyConfiguration {
	values := sampleapply.FooStatus().
		WithObservedGeneration(status.ObservedGeneration).
		WithReplicas(status.Replicas).
		WithAvailableReplicas(status.AvailableReplicas)
	for _, c := range status.Conditions {
		values.WithConditions(metaapply.Condition().WithType(c.Type).WithStatus(c.Status).WithReason(c.Reason).WithMessage(c.Message).
			WithObservedGeneration(c.ObservedGeneration).WithLastTransitionTime(c.LastTransitionTime))
	}
	return sampleapply.Foo(foo.Name, foo.Namespace).WithUID(foo.UID).WithStatus(values)
}
