{{- /* Name of all objects: the release, after which "-faultline" is added if it does not contain it. */ -}}
{{- define "faultline.name" -}}
{{- $name := .Release.Name }}
{{- if not (contains .Chart.Name $name) }}{{ $name = printf "%s-%s" $name .Chart.Name }}{{ end }}
{{- $name | trunc 40 | trimSuffix "-" }}
{{- end }}

{{- define "faultline.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "faultline.labels" -}}
{{ include "faultline.selector" . }}
app.kubernetes.io/version: {{ include "faultline.version" . | quote }}
{{- end }}

{{- define "faultline.tag" -}}
{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{- /* The tag without the digest that may follow it. */ -}}
{{- define "faultline.version" -}}
{{ include "faultline.tag" . | splitList "@" | first | trunc 63 }}
{{- end }}

{{- /* Settings that are no secrets, as the data of a ConfigMap. */ -}}
{{- define "faultline.settings" -}}
FAULTLINE_HOST: 0.0.0.0
FAULTLINE_METRICS_PORT: "9464"
FAULTLINE_PUBLIC_URL: {{ .Values.publicUrl | quote }}
FAULTLINE_TRUST_PROXY: "1"
{{- range $name, $value := .Values.settings }}
{{ $name }}: {{ $value | toString | quote }}
{{- end }}
{{- end }}

{{- /* Addresses of stores from Secrets of others, as entries of `env`. */ -}}
{{- define "faultline.stores" -}}
{{- range $name, $store := dict "FAULTLINE_DATABASE_URL" .Values.database "FAULTLINE_REDIS_URL" .Values.redis "FAULTLINE_MONGODB_URL" .Values.mongodb }}
{{- if $store.secretName }}
- name: {{ $name }}
  valueFrom: { secretKeyRef: { name: {{ $store.secretName }}, key: {{ $store.secretKey }} } }
{{- end }}
{{- end }}
{{- end }}

{{- /* Fields of a container that all processes share. */ -}}
{{- define "faultline.container" -}}
image: {{ printf "%s:%s" .Values.image.repository (include "faultline.tag" .) | quote }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: { drop: [ALL] }
{{- end }}

{{- /* Environment of the API and the workers. */ -}}
{{- define "faultline.environment" -}}
envFrom:
  - configMapRef: { name: {{ include "faultline.name" . }} }
  - secretRef: { name: {{ .Values.secretName }} }
{{- with include "faultline.stores" . }}
env: {{- . | nindent 2 }}
{{- end }}
{{- end }}

{{- /* Fields of a pod that all processes share. */ -}}
{{- define "faultline.pod" -}}
automountServiceAccountToken: false
securityContext:
  runAsNonRoot: true
  runAsUser: 1000
  runAsGroup: 1000
  fsGroup: 1000
  seccompProfile: { type: RuntimeDefault }
{{- with .Values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.affinity }}
affinity: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- /* Annotations of pods: changed settings start them anew. */ -}}
{{- define "faultline.annotations" -}}
checksum/settings: {{ include "faultline.settings" . | sha256sum }}
{{- with .Values.podAnnotations }}
{{ toYaml . }}
{{- end }}
{{- end }}
