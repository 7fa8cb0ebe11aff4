/* SPDX-License-Identifier: Apache-2.0 */
/* ISO 4217 as published by its maintenance agency, amendments to 2026 (XCG and ZWG are in; ANG, BGN
 * and ZWL are out). */
#include "contract/currency.h"

#include <stdio.h>
#include <string.h>

/* By the digits of the smallest unit; codes of three letters, a space between. */
static const char *const currencies[CURRENCY_DIGITS_MAX + 1] = {
    [0] = "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX VND VUV XAF XOF XPF",
    [1] = "",
    [2] = "AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BMD BND BOB BRL BSD BTN BWP BYN BZD "
          "CAD CDF CHF CNY COP CRC CUP CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS "
          "GIP GMD GTQ GYD HKD HNL HTG HUF IDR ILS INR IRR JMD KES KGS KHR KPW KYD KZT LAK LBP "
          "LKR LRD LSL MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK "
          "NPR NZD PAB PEN PGK PHP PKR PLN QAR RON RSD RUB SAR SBD SCR SDG SEK SGD SHP SLE SOS "
          "SRD SSP STN SVC SYP SZL THB TJS TMT TOP TRY TTD TWD TZS UAH USD UYU UZS VED VES WST "
          "XCD XCG YER ZAR ZMW ZWG",
    [3] = "BHD IQD JOD KWD LYD OMR TND",
};

bool currency_find(struct span code, unsigned *digits)
{
    for (unsigned i = 0; i <= CURRENCY_DIGITS_MAX && code.size == 3; i++) {
        struct span rest = span_from_string(currencies[i]), one;
        while (span_take_until(&rest, ' ', &one)) {
            if (!span_equal(one, code))
                continue;
            *digits = i;
            return true;
        }
    }
    return false;
}

static uint64_t units_of(unsigned digits)
{
    uint64_t units = 1;
    for (unsigned i = 0; i < digits; i++)
        units *= 10;
    return units;
}

/* Exactly `digits` digits; those that are not said are zeros. */
static bool fraction_read(struct span text, unsigned digits, uint64_t *value)
{
    *value = 0;
    if (text.size == 0 || text.size > digits)
        return false;
    for (unsigned i = 0; i < digits; i++) {
        const unsigned digit = i < text.size ? (unsigned)(unsigned char)text.data[i] - '0' : 0;
        if (digit > 9)
            return false;
        *value = *value * 10 + digit;
    }
    return true;
}

enum status amount_parse(struct span text, unsigned digits, uint64_t *minor)
{
    const char *point = text.size == 0 ? NULL : memchr(text.data, '.', text.size);
    const size_t whole_size = point == NULL ? text.size : (size_t)(point - text.data);
    const uint64_t units = units_of(digits);
    uint64_t whole, fraction = 0;
    if (span_to_u64(span_of(text.data, whole_size), &whole) != STATUS_OK
        || (point != NULL) != (digits > 0)
        || (point != NULL
            && !fraction_read(span_of(point + 1, text.size - whole_size - 1), digits, &fraction))
        || whole > (INT64_MAX - fraction) / units)
        return STATUS_BAD_INPUT;
    *minor = whole * units + fraction;
    return STATUS_OK;
}

void amount_format(uint64_t minor, unsigned digits, char out[AMOUNT_CHARS_MAX])
{
    const uint64_t units = units_of(digits);
    if (digits == 0)
        snprintf(out, AMOUNT_CHARS_MAX, "%llu", (unsigned long long)minor);
    else
        snprintf(out, AMOUNT_CHARS_MAX, "%llu.%0*llu", (unsigned long long)(minor / units),
            (int)digits, (unsigned long long)(minor % units));
}
