#include "support/key_types.hpp"

#include "bench_chosen_keys.hpp"
#include "support/options.hpp"

namespace bench {

const std::vector<KeyType>& key_types() {
  static const std::vector<KeyType> all{
#define KRADIX_BENCH_KEY_ENTRY(name) \
  KeyType{#name, sizeof(keys::name), &measure_key<keys::name>, &contenders_of_key<keys::name>},
      KRADIX_BENCH_CHOSEN_KEYS(KRADIX_BENCH_KEY_ENTRY)
#undef KRADIX_BENCH_KEY_ENTRY
  };
  return all;
}

const KeyType& key_type(std::string_view name) {
  for (const KeyType& type : key_types()) {
    if (type.name == name) return type;
  }
  refuse("there is no key type \"" + std::string(name) + "\", but " + names_of(key_types()));
}

}  // namespace bench
