# A Debian package of the installed tree: `cpack --config build/release/CPackConfig.cmake`. It needs, like the package's users, the
# libraries that are linked; those for tests and the tools are left out.
file(STRINGS ${PROJECT_SOURCE_DIR}/.ci/packages.txt packages REGEX "^[^#]")
list(FILTER packages INCLUDE REGEX "-dev$")
list(FILTER packages EXCLUDE REGEX "^lib(benchmark|gmock|gtest|rapidcheck)-dev$")
list(JOIN packages ", " packages)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME vigil)
set(CPACK_PACKAGE_CONTACT "the vigil developers")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Training sessions as TensorFlow 1 defined them, and a deterministic simulator around them")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_COMPRESSION_TYPE zstd)  # smaller than gzip, and packed in half of the time
set(CPACK_DEBIAN_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_PACKAGE_DEPENDS "${packages}")
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
include(CPack)
