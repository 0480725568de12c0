package controller

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	samplev1alpha1 "example.com/sample-controller/pkg/apis/samplecontroller/v1alpha1"
)

// fooKind is what owner references and apply configurations call a Foo.
var fooKind = samplev1alpha1.SchemeGroupVersion.WithKind("Foo")

const (
	// deploymentLabel is on a Deployment's pods, with its name.
	deploymentLabel = "samplecontroller.k8s.io/deployment"

	// container is the name of the pods' container.
	container = "foo"
)

// desiredDeployment returns the Deployment that a Foo asks for.
func desiredDeployment(foo *samplev1alpha1.Foo, image string) *appsv1.Deployment {
	labels := map[string]string{deploymentLabel: foo.Spec.DeploymentName}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{
			Namespace:       foo.Namespace,
			Name:            foo.Spec.DeploymentName,
			OwnerReferences: []metav1.OwnerReference{ownedBy(foo)},
		},
		Spec: appsv1.DeploymentSpec{
			Replicas: ptr.To(replicas(foo)),
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: container, Image: image}}},
			},
		},
	}
}

// replicas is how many pods a Foo asks for. The definition has the default, too: objects from before it have none.
func replicas(foo *samplev1alpha1.Foo) int32 { return ptr.Deref(foo.Spec.Replicas, 1) }

// ownedBy returns the reference by which a Foo controls an object of its namespace. It does not block the Foo's
// foreground deletion: for that some clusters ask for the permission to update finalizers of Foos.
func ownedBy(foo *samplev1alpha1.Foo) metav1.OwnerReference {
	ref := *metav1.NewControllerRef(foo, fooKind)
	ref.BlockOwnerDeletion = nil
	return ref
}

// upToDate compares what this controller decides, and nothing else: the API server fills in many defaults.
func upToDate(deployment, desired *appsv1.Deployment) bool {
	taken := deployment.DeepCopy()
	take(taken, desired)
	return equality.Semantic.DeepEqual(deployment, taken)
}

// take sets in a Deployment what this controller decides: the size and the image.
func take(deployment, desired *appsv1.Deployment) {
	deployment.Spec.Replicas = desired.Spec.Replicas
	containers := deployment.Spec.Template.Spec.Containers
	for i := range containers {
		if containers[i].Name == container {
			containers[i].Image = desired.Spec.Template.Spec.Containers[0].Image
		}
	}
}
