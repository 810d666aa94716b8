#pragma once

// OpenSSL's libcrypto, from version 3.0 on.
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/params.h>

// The HMAC of a message with the hash function `name`. In C because a list of parameters keeps pointers to their values.
// Returns 1, or 0 if libcrypto has no memory.
static inline int copenssl_hmac(
    EVP_MAC *hmac, const char *name, const void *key, size_t key_size, const void *message, size_t size, unsigned char *code,
    size_t code_size) {
    const OSSL_PARAM parameters[] = {OSSL_PARAM_utf8_string(OSSL_MAC_PARAM_DIGEST, (char *)name, 0), OSSL_PARAM_END};
    EVP_MAC_CTX *context = EVP_MAC_CTX_new(hmac);
    size_t written = 0;
    // Without a pointer, libcrypto would look for an earlier key.
    int is_done = context && EVP_MAC_init(context, key ? key : "", key_size, parameters) && EVP_MAC_update(context, message, size) &&
                  EVP_MAC_final(context, code, &written, code_size) && written == code_size;
    EVP_MAC_CTX_free(context);
    return is_done;
}
