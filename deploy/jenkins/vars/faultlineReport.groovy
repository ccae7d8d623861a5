import com.cloudbees.groovy.cps.NonCPS
import groovy.json.JsonOutput
import javax.crypto.Mac
import javax.crypto.spec.SecretKeySpec

/**
 * Tells Faultline that this build failed: a signed event, of which Faultline fetches the console and the test report itself.
 * Changes nothing of the build, also where it cannot be told. Options, all of them optional:
 *   url            address of Faultline; else FAULTLINE_URL of the environment
 *   credentialsId  secret text with one of FAULTLINE_JENKINS_WEBHOOK_SECRET; else 'faultline-webhook-secret'
 *   repository     owner/name; else that of GIT_URL, else the job's name
 *   status         as Jenkins calls it; else the build's own
 *   sign           false sends the secret itself in a masked header, for libraries in the Groovy sandbox
 */
void call(Map given = [:]) {
  catchError(message: 'Faultline was not told of this build', buildResult: null, stageResult: null, catchInterruptions: false) {
    String address = given.url ?: env.FAULTLINE_URL
    if (!address) {
      error('faultlineReport has no address: set FAULTLINE_URL, or pass url:')
    }
    String status = given.status ?: currentBuild.currentResult
    String repository = given.repository ?: repositoryOf(env.GIT_URL) ?: env.JOB_NAME
    String body = eventOf(repository, status)
    String credentials = given.credentialsId ?: 'faultline-webhook-secret'
    withCredentials([string(credentialsId: credentials, variable: 'FAULTLINE_WEBHOOK_SECRET')]) {
      List headers = given.sign == false ? shown(env.FAULTLINE_WEBHOOK_SECRET) : signed(body, env.FAULTLINE_WEBHOOK_SECRET)
      httpRequest(
        url: withoutSlash(address) + '/webhooks/jenkins',
        httpMode: 'POST',
        contentType: 'APPLICATION_JSON',
        customHeaders: headers,
        requestBody: body,
        timeout: 30,
        quiet: true,
        validResponseCodes: '202'
      )
    }
    echo "Faultline was told: ${status}"
  }
}

/** The generic event. All of it is ASCII, so that what is signed and what is sent are the same bytes in every encoding. */
private String eventOf(String repository, String status) {
  return JsonOutput.toJson([
    repository: repository,
    pipeline: env.JOB_NAME,
    number: env.BUILD_NUMBER,
    status: status,
    url: env.BUILD_URL,
    branch: env.CHANGE_BRANCH ?: env.BRANCH_NAME ?: localBranch(env.GIT_BRANCH),
    commit: env.GIT_COMMIT,
    author: env.CHANGE_AUTHOR,
    startedAt: currentBuild.startTimeInMillis,
    pullRequest: numberOf(env.CHANGE_ID)
  ])
}

@NonCPS
private static List signed(String body, String secret) {
  String id = UUID.randomUUID().toString()
  String seconds = (System.currentTimeMillis().intdiv(1000)).toString()
  Mac mac = Mac.getInstance('HmacSHA256')
  mac.init(new SecretKeySpec(secret.getBytes('UTF-8'), 'HmacSHA256'))
  String signature = mac.doFinal((id + '.' + seconds + '.' + body).getBytes('UTF-8')).encodeHex().toString()
  return [
    [name: 'X-Faultline-Id', value: id],
    [name: 'X-Faultline-Timestamp', value: seconds],
    [name: 'X-Faultline-Signature', value: 'sha256=' + signature]
  ]
}

@NonCPS
private static List shown(String secret) {
  return [[name: 'X-Faultline-Token', value: secret, maskValue: true]]
}

/** `https://host/owner/name.git` and `git@host:owner/name.git` are `owner/name`; null where there is none. */
@NonCPS
private static String repositoryOf(String address) {
  String text = address ?: ''
  int scheme = text.indexOf('://')
  int start = scheme < 0 ? text.indexOf(':') : text.indexOf('/', scheme + 3)
  if (start < 0) {
    return null
  }
  String path = withoutSlash(text.substring(start + 1))
  String name = path.endsWith('.git') ? path.substring(0, path.length() - 4) : path
  return name.contains('/') ? name : null
}

@NonCPS
private static String withoutSlash(String address) {
  return address.endsWith('/') ? address.substring(0, address.length() - 1) : address
}

@NonCPS
private static String localBranch(String name) {
  return name != null && name.startsWith('origin/') ? name.substring(7) : name
}

@NonCPS
private static Integer numberOf(String text) {
  return text != null && text.isInteger() ? text.toInteger() : null
}
