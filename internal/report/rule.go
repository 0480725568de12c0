package report

// Rule is the name of the rule that a finding breaks. Names never change: programs depend on them.
type Rule string

// The rules of findings. [Rules] says what each is about.
const (
	RuleUnknownMarker        Rule = "unknown-marker"
	RuleIgnoredArgument      Rule = "ignored-argument"
	RuleNewerMarker          Rule = "newer-marker"
	RuleMisplacedMarker      Rule = "misplaced-marker"
	RuleInvalidMarker        Rule = "invalid-marker"
	RuleWebhookMarker        Rule = "webhook-marker"
	RulePermissionMarker     Rule = "permission-marker"
	RuleUnknownResource      Rule = "unknown-resource"
	RuleMissingPermission    Rule = "missing-permission"
	RuleUnservedWebhook      Rule = "unserved-webhook"
	RuleFormerWebhook        Rule = "former-webhook"
	RuleFormerRegistration   Rule = "former-registration"
	RuleMissingStatus        Rule = "missing-status"
	RuleUnexportedField      Rule = "unexported-field"
	RuleJSONTag              Rule = "json-tag"
	RuleDuplicateField       Rule = "duplicate-field"
	RuleContradictoryMarkers Rule = "contradictory-markers"
	RuleImpossibleValue      Rule = "impossible-value"
	RuleIneffectiveMarker    Rule = "ineffective-marker"
	RuleEmbeddedMetadata     Rule = "embedded-metadata"
	RuleInvalidSchema        Rule = "invalid-schema"
	RuleInvalidKind          Rule = "invalid-kind"
	RuleUnwritableText       Rule = "unwritable-text"
	RuleSharedFile           Rule = "shared-file"
	RulePolicyRule           Rule = "policy-rule"
	RulePatchedManifest      Rule = "patched-manifest"
	RuleClients              Rule = "clients"
	RuleDeepCopy             Rule = "deep-copy"
	RuleSyntax               Rule = "syntax"
	RuleCompile              Rule = "compile"
	RuleUnreadableFile       Rule = "unreadable-file"
	RulePackageClause        Rule = "package-clause"
	RuleUnresolvedImport     Rule = "unresolved-import"
	RuleDeclaration          Rule = "declaration"
	RuleControllerGenVersion Rule = "controller-gen-version"
	RuleMissingGenerator     Rule = "missing-generator"
	RuleUnfollowedCall       Rule = "unfollowed-call"
	RuleObsoleteOption       Rule = "obsolete-option"
	RuleRefusedDefinition    Rule = "refused-definition"
	RuleDoubtfulDefinition   Rule = "doubtful-definition"
	RuleRefusedSample        Rule = "refused-sample"
	RuleBreakingChange       Rule = "breaking-change"
	RuleDownloadedPrograms   Rule = "downloaded-programs"
	RuleHotLoop              Rule = "hot-loop"
	RuleIgnoredSetting       Rule = "ignored-setting"
)

// RuleDoc is a rule and what breaks it.
type RuleDoc struct {
	Rule    Rule
	Meaning string
}

// Rules returns all rules: of markers first, then of permissions, webhooks and fields, of generated and read files, and
// of what runs.
func Rules() []RuleDoc {
	return []RuleDoc{
		{RuleUnknownMarker, "A marker that no generator has."},
		{RuleIgnoredArgument, "A named argument of a marker that takes one value without a name."},
		{RuleNewerMarker, "A marker that only later versions of controller-gen have."},
		{RuleMisplacedMarker, "A marker at a place where it has no effect."},
		{RuleInvalidMarker, "A marker, or an option of a generator, with a value that it does not take."},
		{RuleWebhookMarker, "A webhook marker from which no valid configuration follows."},
		{RulePermissionMarker, "A permission marker without effect, or without a role to add it to."},
		{RuleUnknownResource, "A permission for a resource that its API group does not have."},
		{RuleMissingPermission, "A request of the manager that no role permits."},
		{RuleUnservedWebhook, "A webhook whose path no code of the project serves."},
		{RuleFormerWebhook, "A webhook method in a form that controller-runtime no longer calls."},
		{RuleFormerRegistration, "A registration of types in a form that no longer compiles."},
		{RuleMissingStatus, "A write of the status of a kind without the status subresource."},
		{RuleUnexportedField, "A field that is not exported and that the schema has."},
		{RuleJSONTag, "A json tag with a missing or misplaced comma."},
		{RuleDuplicateField, "Two fields of one name in JSON, which Go programs leave out."},
		{RuleContradictoryMarkers, "Two markers on one field that contradict each other."},
		{RuleImpossibleValue, "Bounds, or an enumeration, that no value meets."},
		{RuleIneffectiveMarker, "A marker without effect on a field of this type."},
		{RuleEmbeddedMetadata, "Metadata of an embedded object, which the API server drops."},
		{RuleInvalidSchema, "A type from which no schema follows."},
		{RuleInvalidKind, "Types from which no CRD follows."},
		{RuleUnwritableText, "A text that YAML cannot hold."},
		{RuleSharedFile, "A generated file that several generators, packages or kinds write."},
		{RulePolicyRule, "A validation rule that an admission policy cannot have."},
		{RulePatchedManifest, "A CRD manifest that cannot be patched with a schema."},
		{RuleClients, "Types from which clients or apply configurations do not follow completely."},
		{RuleDeepCopy, "A type from which no DeepCopy method follows."},
		{RuleSyntax, "A file that is not valid Go."},
		{RuleCompile, "An error of the Go compiler."},
		{RuleUnreadableFile, "A file that cannot be read."},
		{RulePackageClause, "A file or a folder that Go does not accept as part of its package."},
		{RuleUnresolvedImport, "An import that does not lead to a package, or leads in a circle."},
		{RuleDeclaration, "A type that is declared twice or nested too deep."},
		{RuleControllerGenVersion, "Places in the project that disagree about the version of controller-gen."},
		{RuleMissingGenerator, "A generator that the calls of controller-gen lack."},
		{RuleUnfollowedCall, "A call of controller-gen, or a command after it, that slipway does not run."},
		{RuleObsoleteOption, "An option of a generator that has no effect any more."},
		{RuleRefusedDefinition, "A CRD that API servers refuse."},
		{RuleDoubtfulDefinition, "A CRD that API servers accept and that misleads or harms its users."},
		{RuleRefusedSample, "A sample that API servers refuse."},
		{RuleBreakingChange, "A change of a CRD that breaks objects or clients."},
		{RuleDownloadedPrograms, "A test suite that downloads a control plane."},
		{RuleHotLoop, "A manager that writes one object again and again."},
		{RuleIgnoredSetting, "A setting of another tool's cluster configuration that has no effect."},
	}
}
